-- +goose Up
CREATE TABLE `clips` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `creator_id` blob NOT NULL,
  `title` text NOT NULL,
  `view_count` integer NOT NULL,
  `duration` integer NOT NULL,
  `preview_img_url` text NOT NULL,
  `clip_url` text NOT NULL,
  `category_id` integer NOT NULL,
  `created_at` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE INDEX `clip_channel_id_created_at_id` ON `clips` (`channel_id`, `created_at`, `id`);
CREATE INDEX `clip_channel_id_view_count_id` ON `clips` (`channel_id`, `view_count`, `id`);
CREATE INDEX `clip_creator_id` ON `clips` (`creator_id`);
