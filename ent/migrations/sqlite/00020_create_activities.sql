-- +goose Up
CREATE TABLE `activities` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `user_id` blob NULL,
  `number` integer NOT NULL,
  `dedup_key` text NOT NULL,
  `type` text NOT NULL,
  `info` text NOT NULL,
  `action` text NOT NULL,
  `created_at` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `activity_channel_id_dedup_key` ON `activities` (`channel_id`, `dedup_key`);
CREATE INDEX `activity_channel_id_created_at_number` ON `activities` (`channel_id`, `created_at`, `number`);
CREATE INDEX `activity_channel_id_type_created_at_number` ON `activities` (`channel_id`, `type`, `created_at`, `number`);
CREATE INDEX `activity_user_id` ON `activities` (`user_id`);
