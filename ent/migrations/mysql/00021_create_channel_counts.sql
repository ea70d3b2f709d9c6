-- +goose Up
CREATE TABLE `channel_counts` (
  `id` bigint NOT NULL,
  `count` bigint NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
