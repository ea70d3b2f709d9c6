-- +goose Up
CREATE INDEX `clip_category_id` ON `clips` (`category_id`);
