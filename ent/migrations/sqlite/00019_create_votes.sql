-- +goose Up
CREATE TABLE `votes` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `epoch` integer NOT NULL,
  `username` text NOT NULL,
  `address` text NOT NULL,
  `amount` integer NOT NULL,
  `voted_at` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE INDEX `vote_channel_id_voted_at_id` ON `votes` (`channel_id`, `voted_at`, `id`);
CREATE INDEX `vote_channel_id_epoch_voted_at_id` ON `votes` (`channel_id`, `epoch`, `voted_at`, `id`);
CREATE INDEX `vote_username` ON `votes` (`username`);
