-- +goose Up
CREATE TABLE `refresh_tokens` (
  `id` blob NOT NULL,
  `family_id` blob NOT NULL,
  `client_id` text NOT NULL,
  `user_id` blob NOT NULL,
  `scopes` text NOT NULL,
  `issued_at` integer NOT NULL,
  `expires_at` integer NOT NULL,
  `replaced_at` integer NULL,
  PRIMARY KEY (`id`)
);
CREATE INDEX `refreshtoken_family_id` ON `refresh_tokens` (`family_id`);
CREATE INDEX `refreshtoken_user_id` ON `refresh_tokens` (`user_id`);
CREATE INDEX `refreshtoken_client_id_user_id` ON `refresh_tokens` (`client_id`, `user_id`);
CREATE INDEX `refreshtoken_expires_at` ON `refresh_tokens` (`expires_at`);
