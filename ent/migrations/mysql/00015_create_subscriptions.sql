-- +goose Up
CREATE TABLE `subscriptions` (
  `channel_id` binary(16) NOT NULL,
  `user_id` binary(16) NOT NULL,
  `subscribed_at` bigint NOT NULL,
  `expires_at` bigint NOT NULL,
  `renew_count` bigint NOT NULL,
  `streak_count` bigint NOT NULL,
  `is_active` bool NOT NULL,
  PRIMARY KEY (`channel_id`, `user_id`),
  INDEX `subscription_channel_id_is_active_subscribed_at_user_id` (`channel_id`, `is_active`, `subscribed_at`, `user_id`),
  INDEX `subscription_channel_id_is_active_expires_at` (`channel_id`, `is_active`, `expires_at`),
  INDEX `subscription_is_active_expires_at` (`is_active`, `expires_at`),
  INDEX `subscription_user_id` (`user_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
