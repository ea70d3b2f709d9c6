-- +goose Up
CREATE TABLE `bans` (
  `channel_id` blob NOT NULL,
  `user_id` blob NOT NULL,
  `moderator_id` blob NOT NULL,
  `banned_at` integer NOT NULL,
  PRIMARY KEY (`channel_id`, `user_id`)
);
CREATE INDEX `ban_channel_id_banned_at_user_id` ON `bans` (`channel_id`, `banned_at`, `user_id`);
