-- +goose Up
CREATE TABLE `mutes` (
  `channel_id` blob NOT NULL,
  `user_id` blob NOT NULL,
  `moderator_id` blob NOT NULL,
  `muted_at` integer NOT NULL,
  `expires_at` integer NOT NULL,
  PRIMARY KEY (`channel_id`, `user_id`)
);
CREATE INDEX `mute_expires_at` ON `mutes` (`expires_at`);
