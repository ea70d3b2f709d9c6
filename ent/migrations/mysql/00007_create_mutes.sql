-- +goose Up
CREATE TABLE `mutes` (
  `channel_id` binary(16) NOT NULL,
  `user_id` binary(16) NOT NULL,
  `moderator_id` binary(16) NOT NULL,
  `muted_at` bigint NOT NULL,
  `expires_at` bigint NOT NULL,
  PRIMARY KEY (`channel_id`, `user_id`),
  INDEX `mute_expires_at` (`expires_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
