-- +goose Up
ALTER TABLE `events` ADD COLUMN `evidence` text NULL;
