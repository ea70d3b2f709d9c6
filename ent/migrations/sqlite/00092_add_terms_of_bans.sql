-- +goose Up
ALTER TABLE `bans` ADD COLUMN `reason` text NOT NULL DEFAULT ('');
ALTER TABLE `bans` ADD COLUMN `expires_at` integer NULL;
ALTER TABLE `bans` ADD COLUMN `batch_id` blob NULL;
CREATE INDEX `ban_expires_at` ON `bans` (`expires_at`);
CREATE INDEX `ban_batch_id` ON `bans` (`batch_id`);
