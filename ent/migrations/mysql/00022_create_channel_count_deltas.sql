-- +goose Up
CREATE TABLE `channel_count_deltas` (
  `id` binary(16) NOT NULL,
  `count_id` bigint NOT NULL,
  `delta` bigint NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
