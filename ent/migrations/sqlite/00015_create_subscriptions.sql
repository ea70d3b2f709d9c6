-- +goose Up
CREATE TABLE `subscriptions` (
  `channel_id` blob NOT NULL,
  `user_id` blob NOT NULL,
  `subscribed_at` integer NOT NULL,
  `expires_at` integer NOT NULL,
  `renew_count` integer NOT NULL,
  `streak_count` integer NOT NULL,
  `is_active` bool NOT NULL,
  PRIMARY KEY (`channel_id`, `user_id`)
);
CREATE INDEX `subscription_channel_id_is_active_subscribed_at_user_id` ON `subscriptions` (`channel_id`, `is_active`, `subscribed_at`, `user_id`);
CREATE INDEX `subscription_channel_id_is_active_expires_at` ON `subscriptions` (`channel_id`, `is_active`, `expires_at`);
CREATE INDEX `subscription_is_active_expires_at` ON `subscriptions` (`is_active`, `expires_at`);
CREATE INDEX `subscription_user_id` ON `subscriptions` (`user_id`);
