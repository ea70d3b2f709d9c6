-- +goose Up
ALTER TABLE `event_sequencers` ADD COLUMN `rewrites` bigint NOT NULL DEFAULT 0;
