-- +goose Up
CREATE INDEX `stream_category_id` ON `streams` (`category_id`);
