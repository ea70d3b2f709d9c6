-- +goose Up
ALTER TABLE `webhooks` ADD COLUMN `audience` varchar(16) NOT NULL DEFAULT 'moderators';
