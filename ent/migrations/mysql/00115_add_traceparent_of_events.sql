-- +goose Up
ALTER TABLE `events` ADD COLUMN `traceparent` varchar(55) NULL;
