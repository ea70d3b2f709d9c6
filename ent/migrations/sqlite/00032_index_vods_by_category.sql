-- +goose Up
CREATE INDEX `vod_category_id` ON `vods` (`category_id`);
