-- +goose Up
ALTER TABLE `channels`
  ADD COLUMN `activity_number` bigint NOT NULL DEFAULT 0,
  ADD COLUMN `follower_count` bigint NOT NULL DEFAULT 0,
  ADD COLUMN `subscriber_count` bigint NOT NULL DEFAULT 0,
  ADD COLUMN `clip_count` bigint NOT NULL DEFAULT 0,
  ADD COLUMN `vod_count` bigint NOT NULL DEFAULT 0,
  ADD COLUMN `is_live` bool NOT NULL DEFAULT false,
  ADD COLUMN `viewer_count` bigint NOT NULL DEFAULT 0,
  ADD COLUMN `live_started_at` bigint NULL,
  ADD COLUMN `preview_img_url` varchar(2048) NOT NULL DEFAULT '',
  ADD COLUMN `new_follower_count` bigint NOT NULL DEFAULT 0,
  ADD COLUMN `new_subscriber_count` bigint NOT NULL DEFAULT 0,
  ADD INDEX `channel_is_live_viewer_count_id` (`is_live`, `viewer_count`, `id`),
  ADD INDEX `channel_category_id_is_live_viewer_count_id` (`category_id`, `is_live`, `viewer_count`, `id`);
