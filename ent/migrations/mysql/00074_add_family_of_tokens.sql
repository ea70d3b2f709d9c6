-- +goose Up
ALTER TABLE `tokens` ADD COLUMN `family_id` binary(16) NULL, ADD INDEX `token_family_id` (`family_id`);
