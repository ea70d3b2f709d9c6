-- +goose Up
ALTER TABLE `webhooks` ADD COLUMN `holder` text NOT NULL DEFAULT ('');
