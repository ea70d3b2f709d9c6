-- +goose Up
CREATE TABLE `streams` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `started_at` integer NOT NULL,
  `ended_at` integer NULL,
  `title` text NOT NULL,
  `lang` text NOT NULL,
  `category_id` integer NOT NULL,
  `preview_img_url` text NOT NULL,
  `viewer_count` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `stream_channel_id_started_at` ON `streams` (`channel_id`, `started_at`);
