-- +goose Up
CREATE TABLE `webhooks` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NULL,
  `user_id` binary(16) NULL,
  `client_id` varchar(64) NOT NULL,
  `url` varchar(2048) NOT NULL,
  `types` varchar(2048) NOT NULL,
  `secret` varchar(64) NOT NULL,
  `former_secret` varchar(64) NOT NULL DEFAULT '',
  `former_until` bigint NULL,
  `created_at` bigint NOT NULL,
  `disabled_reason` varchar(16) NOT NULL DEFAULT '',
  `last_success_at` bigint NULL,
  `last_error` varchar(255) NOT NULL DEFAULT '',
  `position` bigint NOT NULL,
  `next_at` bigint NULL,
  `is_claimed` bool NOT NULL DEFAULT false,
  `epoch` bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (`id`),
  INDEX `webhook_channel_id` (`channel_id`),
  INDEX `webhook_user_id` (`user_id`),
  INDEX `webhook_next_at` (`next_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
