-- +goose Up
ALTER TABLE `channels` ADD COLUMN `activity_number` integer NOT NULL DEFAULT (0);
ALTER TABLE `channels` ADD COLUMN `follower_count` integer NOT NULL DEFAULT (0);
ALTER TABLE `channels` ADD COLUMN `subscriber_count` integer NOT NULL DEFAULT (0);
ALTER TABLE `channels` ADD COLUMN `clip_count` integer NOT NULL DEFAULT (0);
ALTER TABLE `channels` ADD COLUMN `vod_count` integer NOT NULL DEFAULT (0);
ALTER TABLE `channels` ADD COLUMN `is_live` bool NOT NULL DEFAULT (false);
ALTER TABLE `channels` ADD COLUMN `viewer_count` integer NOT NULL DEFAULT (0);
ALTER TABLE `channels` ADD COLUMN `live_started_at` integer NULL;
ALTER TABLE `channels` ADD COLUMN `preview_img_url` text NOT NULL DEFAULT ('');
ALTER TABLE `channels` ADD COLUMN `new_follower_count` integer NOT NULL DEFAULT (0);
ALTER TABLE `channels` ADD COLUMN `new_subscriber_count` integer NOT NULL DEFAULT (0);
CREATE INDEX `channel_is_live_viewer_count_id` ON `channels` (`is_live`, `viewer_count`, `id`);
CREATE INDEX `channel_category_id_is_live_viewer_count_id` ON `channels` (`category_id`, `is_live`, `viewer_count`, `id`);
