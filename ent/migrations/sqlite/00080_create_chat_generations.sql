-- +goose Up
CREATE TABLE `chat_generations` (
  `channel_id` blob NOT NULL,
  `generation` integer NOT NULL,
  `raised_at` integer NOT NULL,
  `purge_at` integer NULL,
  PRIMARY KEY (`channel_id`)
);
CREATE INDEX `chatgeneration_purge_at` ON `chat_generations` (`purge_at`);
