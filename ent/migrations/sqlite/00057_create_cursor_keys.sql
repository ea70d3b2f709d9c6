-- +goose Up
CREATE TABLE `cursor_keys` (`id` integer NOT NULL, `secret` blob NOT NULL, `created_at` integer NOT NULL, PRIMARY KEY (`id`));
