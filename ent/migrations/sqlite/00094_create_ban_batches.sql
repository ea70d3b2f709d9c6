-- +goose Up
CREATE TABLE `ban_batches` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `moderator_id` blob NOT NULL,
  `created_at` integer NOT NULL,
  `reason` text NOT NULL DEFAULT (''),
  `expires_at` integer NULL,
  `banned_count` integer NOT NULL,
  `first_sequence` integer NOT NULL,
  `last_sequence` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE INDEX `banbatch_channel_id_created_at_id` ON `ban_batches` (`channel_id`, `created_at`, `id`);
CREATE INDEX `banbatch_moderator_id` ON `ban_batches` (`moderator_id`);
