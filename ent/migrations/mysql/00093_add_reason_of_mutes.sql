-- +goose Up
ALTER TABLE `mutes` ADD COLUMN `reason` varchar(500) NOT NULL DEFAULT '';
