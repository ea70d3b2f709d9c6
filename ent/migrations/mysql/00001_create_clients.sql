-- +goose Up
CREATE TABLE `clients` (
  `id` varchar(64) NOT NULL,
  `name` varchar(140) NOT NULL,
  `service` bool NOT NULL,
  `created_at` bigint NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
