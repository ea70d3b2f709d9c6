-- +goose Up
ALTER TABLE `sweeps` ADD COLUMN `ended_at` bigint NULL;
