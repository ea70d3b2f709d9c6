-- +goose Up
CREATE TABLE `channels` (
  `id` binary(16) NOT NULL,
  `title` varchar(140) NOT NULL,
  `bio` varchar(300) NOT NULL,
  `lang` varchar(35) NOT NULL,
  `category_id` bigint NOT NULL DEFAULT 0,
  `event_sequence` bigint NOT NULL DEFAULT 0,
  `created_at` bigint NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
