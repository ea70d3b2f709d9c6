-- +goose Up
ALTER TABLE `tokens` ADD INDEX `token_expires_at` (`expires_at`);
