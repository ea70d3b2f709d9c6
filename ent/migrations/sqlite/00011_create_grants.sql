-- +goose Up
CREATE TABLE `grants` (
  `id` blob NOT NULL,
  `client_id` text NOT NULL,
  `user_id` blob NOT NULL,
  `scopes` text NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `grant_client_id_user_id` ON `grants` (`client_id`, `user_id`);
CREATE INDEX `grant_user_id` ON `grants` (`user_id`);
