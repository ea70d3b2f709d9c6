-- +goose Up
ALTER TABLE `clients` ADD COLUMN `redirect_uris` text NOT NULL DEFAULT ('');
ALTER TABLE `clients` ADD COLUMN `scopes` text NOT NULL DEFAULT ('');
ALTER TABLE `clients` ADD COLUMN `public` bool NOT NULL DEFAULT (false);
ALTER TABLE `clients` ADD COLUMN `secret` blob NULL;
