-- +goose Up
ALTER TABLE `webhooks` ADD COLUMN `paused_until` integer NULL;
CREATE INDEX `webhook_disabled_reason` ON `webhooks` (`disabled_reason`);
