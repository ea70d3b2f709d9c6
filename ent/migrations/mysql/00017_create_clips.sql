-- +goose Up
CREATE TABLE `clips` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `creator_id` binary(16) NOT NULL,
  `title` varchar(140) NOT NULL,
  `view_count` bigint NOT NULL,
  `duration` bigint NOT NULL,
  `preview_img_url` varchar(2048) NOT NULL,
  `clip_url` varchar(2048) NOT NULL,
  `category_id` bigint NOT NULL,
  `created_at` bigint NOT NULL,
  PRIMARY KEY (`id`),
  INDEX `clip_channel_id_created_at_id` (`channel_id`, `created_at`, `id`),
  INDEX `clip_channel_id_view_count_id` (`channel_id`, `view_count`, `id`),
  INDEX `clip_creator_id` (`creator_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
