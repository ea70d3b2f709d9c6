-- +goose Up
CREATE TABLE `cursor_keys` (
  `id` bigint NOT NULL,
  `secret` binary(32) NOT NULL,
  `created_at` bigint NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
