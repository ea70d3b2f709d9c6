-- +goose Up
ALTER TABLE `users` ADD COLUMN `rights_version` bigint NOT NULL DEFAULT 0;
