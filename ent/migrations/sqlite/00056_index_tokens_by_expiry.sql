-- +goose Up
CREATE INDEX `token_expires_at` ON `tokens` (`expires_at`);
