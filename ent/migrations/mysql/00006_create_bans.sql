-- +goose Up
CREATE TABLE `bans` (
  `channel_id` binary(16) NOT NULL,
  `user_id` binary(16) NOT NULL,
  `moderator_id` binary(16) NOT NULL,
  `banned_at` bigint NOT NULL,
  PRIMARY KEY (`channel_id`, `user_id`),
  INDEX `ban_channel_id_banned_at_user_id` (`channel_id`, `banned_at`, `user_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
