-- +goose Up
ALTER TABLE `ban_batches` ADD INDEX `banbatch_created_at` (`created_at`);
