-- +goose Up
ALTER TABLE `webhook_deliveries` ADD COLUMN `tries` int NOT NULL DEFAULT 0, ADD COLUMN `delivered_at` bigint NULL;
