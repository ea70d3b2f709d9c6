-- +goose Up
CREATE TABLE `events` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `sequence` integer NOT NULL,
  `position` integer NULL,
  `type` text NOT NULL,
  `operation_id` blob NOT NULL,
  `actor_id` blob NULL,
  `target_id` blob NULL,
  `client_id` text NOT NULL,
  `request_id` text NOT NULL,
  `occurred_at` integer NOT NULL,
  `payload` text NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `event_channel_id_sequence` ON `events` (`channel_id`, `sequence`);
CREATE INDEX `event_channel_id_operation_id` ON `events` (`channel_id`, `operation_id`);
CREATE INDEX `event_position` ON `events` (`position`);
