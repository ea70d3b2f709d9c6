-- +goose Up
ALTER TABLE `webhooks` ADD COLUMN `holder` varchar(16) NOT NULL DEFAULT '';
