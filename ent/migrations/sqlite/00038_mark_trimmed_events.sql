-- +goose Up
ALTER TABLE `channels` ADD COLUMN `trimmed_sequence` integer NOT NULL DEFAULT (0);
