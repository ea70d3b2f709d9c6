-- +goose Up
CREATE TABLE `authorizations` (
  `id` blob NOT NULL,
  `secret` blob NOT NULL,
  `client_id` text NOT NULL,
  `status` text NOT NULL,
  `scopes` text NOT NULL,
  `issuer` text NOT NULL DEFAULT (''),
  `redirect_uri` text NOT NULL DEFAULT (''),
  `state` text NOT NULL DEFAULT (''),
  `code_challenge` text NOT NULL DEFAULT (''),
  `code` blob NULL,
  `code_expires_at` integer NULL,
  `user_id` blob NULL,
  `granted` text NOT NULL DEFAULT (''),
  `family_id` blob NULL,
  `is_device` bool NOT NULL,
  `poll_interval` integer NOT NULL DEFAULT (0),
  `polled_at` integer NULL,
  `created_at` integer NOT NULL,
  `expires_at` integer NOT NULL,
  `kept_until` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `authorization_code` ON `authorizations` (`code`);
CREATE INDEX `authorization_user_id` ON `authorizations` (`user_id`);
CREATE INDEX `authorization_client_id` ON `authorizations` (`client_id`);
CREATE INDEX `authorization_kept_until` ON `authorizations` (`kept_until`);
