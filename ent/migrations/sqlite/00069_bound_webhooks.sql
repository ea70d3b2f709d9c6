-- +goose Up
ALTER TABLE `webhooks` ADD COLUMN `heard_from` integer NULL;
