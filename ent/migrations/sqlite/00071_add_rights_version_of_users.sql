-- +goose Up
ALTER TABLE `users` ADD COLUMN `rights_version` integer NOT NULL DEFAULT (0);
