-- +goose Up
ALTER TABLE `clients` ADD COLUMN `redirect_uris` varchar(4096) NOT NULL DEFAULT '', ADD COLUMN `scopes` varchar(255) NOT NULL DEFAULT '', ADD COLUMN `public` bool NOT NULL DEFAULT false, ADD COLUMN `secret` binary(32) NULL;
