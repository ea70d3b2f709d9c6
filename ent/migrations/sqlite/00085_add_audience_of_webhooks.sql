-- +goose Up
ALTER TABLE `webhooks` ADD COLUMN `audience` text NOT NULL DEFAULT ('moderators');
