-- +goose Up
ALTER TABLE `events` ADD COLUMN `evidence` mediumtext NULL;
