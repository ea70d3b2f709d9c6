-- +goose Up
ALTER TABLE `message_generations` ADD COLUMN `restorable` bigint NULL, ADD COLUMN `restorable_until` bigint NULL, ADD COLUMN `restorable_raised_at` bigint NULL, ADD COLUMN `restored_from` bigint NULL;
