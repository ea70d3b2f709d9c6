-- +goose Up
ALTER TABLE `webhooks` ADD COLUMN `is_slow` bool NOT NULL DEFAULT false;
