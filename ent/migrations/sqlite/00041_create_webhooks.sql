-- +goose Up
CREATE TABLE `webhooks` (
  `id` blob NOT NULL,
  `channel_id` blob NULL,
  `user_id` blob NULL,
  `client_id` text NOT NULL,
  `url` text NOT NULL,
  `types` text NOT NULL,
  `secret` text NOT NULL,
  `former_secret` text NOT NULL DEFAULT (''),
  `former_until` integer NULL,
  `created_at` integer NOT NULL,
  `disabled_reason` text NOT NULL DEFAULT (''),
  `last_success_at` integer NULL,
  `last_error` text NOT NULL DEFAULT (''),
  `position` integer NOT NULL,
  `next_at` integer NULL,
  `is_claimed` bool NOT NULL DEFAULT (false),
  `is_blocked` bool NOT NULL DEFAULT (false),
  `epoch` integer NOT NULL DEFAULT (0),
  PRIMARY KEY (`id`)
);
CREATE INDEX `webhook_channel_id` ON `webhooks` (`channel_id`);
CREATE INDEX `webhook_user_id` ON `webhooks` (`user_id`);
CREATE INDEX `webhook_next_at` ON `webhooks` (`next_at`);
