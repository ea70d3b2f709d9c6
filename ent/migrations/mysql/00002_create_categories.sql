-- +goose Up
CREATE TABLE `categories` (
  `id` bigint NOT NULL,
  `parent_id` bigint NULL,
  `name` varchar(140) NOT NULL,
  `slug` varchar(140) NOT NULL,
  `image_url` varchar(2048) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
