-- +goose Up
CREATE TABLE `erasures` (
  `id` binary(16) NOT NULL,
  `is_user` bool NOT NULL,
  `requested_at` bigint NOT NULL,
  `next_at` bigint NOT NULL,
  PRIMARY KEY (`id`),
  INDEX `erasure_next_at` (`next_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
