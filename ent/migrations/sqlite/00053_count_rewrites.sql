-- +goose Up
ALTER TABLE `event_sequencers` ADD COLUMN `rewrites` integer NOT NULL DEFAULT (0);
