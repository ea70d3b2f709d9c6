-- +goose Up
ALTER TABLE `users` ADD COLUMN `deleted_at` integer NULL;
