-- +goose Up
CREATE TABLE `follows` (
  `channel_id` binary(16) NOT NULL,
  `user_id` binary(16) NOT NULL,
  `followed_at` bigint NOT NULL,
  `is_notification_enabled` bool NOT NULL,
  PRIMARY KEY (`channel_id`, `user_id`),
  INDEX `follow_channel_id_followed_at_user_id` (`channel_id`, `followed_at`, `user_id`),
  INDEX `follow_user_id_followed_at_channel_id` (`user_id`, `followed_at`, `channel_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
