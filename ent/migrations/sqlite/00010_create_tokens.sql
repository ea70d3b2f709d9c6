-- +goose Up
CREATE TABLE `tokens` (
  `id` blob NOT NULL,
  `kind` text NOT NULL,
  `client_id` text NOT NULL,
  `user_id` blob NULL,
  `scopes` text NOT NULL,
  `issued_at` integer NOT NULL,
  `expires_at` integer NULL,
  `revoked_at` integer NULL,
  PRIMARY KEY (`id`)
);
