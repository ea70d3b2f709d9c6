-- +goose Up
CREATE TABLE `webhook_deliveries` (
  `id` binary(16) NOT NULL,
  `webhook_id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `event_id` binary(16) NOT NULL,
  `position` bigint NOT NULL,
  `type` varchar(64) NOT NULL,
  `status` varchar(16) NOT NULL,
  `is_repeat` bool NOT NULL DEFAULT false,
  `attempts` int NOT NULL DEFAULT 0,
  `last_status` int NULL,
  `last_error` varchar(255) NOT NULL DEFAULT '',
  `first_attempt_at` bigint NULL,
  `next_attempt_at` bigint NOT NULL,
  `finished_at` bigint NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `webhookdelivery_webhook_id_position` (`webhook_id`, `position`),
  INDEX `webhookdelivery_webhook_id_status_position` (`webhook_id`, `status`, `position`),
  INDEX `webhookdelivery_finished_at` (`finished_at`),
  INDEX `webhookdelivery_channel_id` (`channel_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
