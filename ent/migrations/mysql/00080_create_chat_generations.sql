-- +goose Up
CREATE TABLE `chat_generations` (
  `channel_id` binary(16) NOT NULL,
  `generation` bigint NOT NULL,
  `raised_at` bigint NOT NULL,
  `purge_at` bigint NULL,
  PRIMARY KEY (`channel_id`),
  INDEX `chatgeneration_purge_at` (`purge_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
