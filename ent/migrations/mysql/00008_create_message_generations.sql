-- +goose Up
CREATE TABLE `message_generations` (
  `channel_id` binary(16) NOT NULL,
  `user_id` binary(16) NOT NULL,
  `generation` bigint NOT NULL,
  `raised_at` bigint NOT NULL,
  `purge_at` bigint NULL,
  PRIMARY KEY (`channel_id`, `user_id`),
  INDEX `messagegeneration_purge_at` (`purge_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
