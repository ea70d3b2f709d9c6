-- +goose Up
CREATE TABLE `follows` (
  `channel_id` blob NOT NULL,
  `user_id` blob NOT NULL,
  `followed_at` integer NOT NULL,
  `is_notification_enabled` bool NOT NULL,
  PRIMARY KEY (`channel_id`, `user_id`)
);
CREATE INDEX `follow_channel_id_followed_at_user_id` ON `follows` (`channel_id`, `followed_at`, `user_id`);
CREATE INDEX `follow_user_id_followed_at_channel_id` ON `follows` (`user_id`, `followed_at`, `channel_id`);
