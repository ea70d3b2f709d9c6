-- +goose Up
ALTER TABLE `webhooks` ADD COLUMN `paused_until` bigint NULL, ADD INDEX `webhook_disabled_reason` (`disabled_reason`);
