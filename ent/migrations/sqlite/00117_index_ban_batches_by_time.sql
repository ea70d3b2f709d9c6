-- +goose Up
CREATE INDEX `banbatch_created_at` ON `ban_batches` (`created_at`);
