-- +goose Up
CREATE TABLE `vods` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `title` text NOT NULL,
  `view_count` integer NOT NULL,
  `duration` integer NOT NULL,
  `preview_img_url` text NOT NULL,
  `started_at` integer NOT NULL,
  `ended_at` integer NOT NULL,
  `category_id` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE INDEX `vod_channel_id_started_at_id` ON `vods` (`channel_id`, `started_at`, `id`);
CREATE INDEX `vod_channel_id_view_count_id` ON `vods` (`channel_id`, `view_count`, `id`);
