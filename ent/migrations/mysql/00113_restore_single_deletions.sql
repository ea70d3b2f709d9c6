-- +goose Up
ALTER TABLE `message_generations` ADD COLUMN `restorable_by_mute` bool NOT NULL DEFAULT false, ADD COLUMN `earlier` bigint NULL, ADD COLUMN `earlier_until` bigint NULL, ADD COLUMN `earlier_raised_at` bigint NULL;
