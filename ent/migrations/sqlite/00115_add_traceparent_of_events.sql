-- +goose Up
ALTER TABLE `events` ADD COLUMN `traceparent` text NULL;
