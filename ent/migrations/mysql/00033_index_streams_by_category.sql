-- +goose Up
ALTER TABLE `streams` ADD INDEX `stream_category_id` (`category_id`);
