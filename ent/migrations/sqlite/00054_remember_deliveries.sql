-- +goose Up
ALTER TABLE `webhook_deliveries` ADD COLUMN `tries` integer NOT NULL DEFAULT (0);
ALTER TABLE `webhook_deliveries` ADD COLUMN `delivered_at` integer NULL;
