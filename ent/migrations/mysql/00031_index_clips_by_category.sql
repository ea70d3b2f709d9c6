-- +goose Up
ALTER TABLE `clips` ADD INDEX `clip_category_id` (`category_id`);
