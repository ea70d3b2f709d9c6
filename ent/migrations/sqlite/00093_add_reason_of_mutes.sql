-- +goose Up
ALTER TABLE `mutes` ADD COLUMN `reason` text NOT NULL DEFAULT ('');
