-- +goose Up
UPDATE `users` SET `username` = CONCAT('~', LOWER(HEX(`id`))), `slug` = CONCAT('~', LOWER(HEX(`id`))) WHERE `deleted_at` > 0;
