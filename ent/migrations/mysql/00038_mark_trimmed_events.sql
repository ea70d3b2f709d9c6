-- +goose Up
ALTER TABLE `channels` ADD COLUMN `trimmed_sequence` bigint NOT NULL DEFAULT 0;
