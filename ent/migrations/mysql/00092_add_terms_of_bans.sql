-- +goose Up
ALTER TABLE `bans` ADD COLUMN `reason` varchar(500) NOT NULL DEFAULT '', ADD COLUMN `expires_at` bigint NULL, ADD COLUMN `batch_id` binary(16) NULL, ADD INDEX `ban_expires_at` (`expires_at`), ADD INDEX `ban_batch_id` (`batch_id`);
