-- +goose Up
CREATE TABLE `users` (
  `id` blob NOT NULL,
  `username` text NOT NULL,
  `slug` text NOT NULL,
  `display_name` text NOT NULL,
  `avatar_url` text NOT NULL,
  `created_at` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `user_slug` ON `users` (`slug`);
