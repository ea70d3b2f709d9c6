-- +goose Up
ALTER TABLE `vods` ADD INDEX `vod_category_id` (`category_id`);
