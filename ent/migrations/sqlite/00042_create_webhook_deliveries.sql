-- +goose Up
CREATE TABLE `webhook_deliveries` (
  `id` blob NOT NULL,
  `webhook_id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `event_id` blob NOT NULL,
  `position` integer NOT NULL,
  `type` text NOT NULL,
  `status` text NOT NULL,
  `is_repeat` bool NOT NULL DEFAULT (false),
  `attempts` integer NOT NULL DEFAULT (0),
  `last_status` integer NULL,
  `last_error` text NOT NULL DEFAULT (''),
  `first_attempt_at` integer NULL,
  `next_attempt_at` integer NOT NULL,
  `finished_at` integer NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `webhookdelivery_webhook_id_position` ON `webhook_deliveries` (`webhook_id`, `position`);
CREATE INDEX `webhookdelivery_webhook_id_status_position` ON `webhook_deliveries` (`webhook_id`, `status`, `position`);
CREATE INDEX `webhookdelivery_finished_at` ON `webhook_deliveries` (`finished_at`);
CREATE INDEX `webhookdelivery_channel_id` ON `webhook_deliveries` (`channel_id`);
