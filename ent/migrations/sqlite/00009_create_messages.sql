-- +goose Up
CREATE TABLE `messages` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `user_id` blob NOT NULL,
  `generation` integer NOT NULL,
  `text` text NOT NULL,
  `sent_at` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE INDEX `message_channel_id_sent_at_id` ON `messages` (`channel_id`, `sent_at`, `id`);
CREATE INDEX `message_channel_id_user_id_generation` ON `messages` (`channel_id`, `user_id`, `generation`);
