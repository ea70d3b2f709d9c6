-- +goose Up
CREATE TABLE `message_generations` (
  `channel_id` blob NOT NULL,
  `user_id` blob NOT NULL,
  `generation` integer NOT NULL,
  `raised_at` integer NOT NULL,
  `purge_at` integer NULL,
  PRIMARY KEY (`channel_id`, `user_id`)
);
CREATE INDEX `messagegeneration_purge_at` ON `message_generations` (`purge_at`);
