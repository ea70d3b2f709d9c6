-- +goose Up
CREATE TABLE `vods` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `title` varchar(140) NOT NULL,
  `view_count` bigint NOT NULL,
  `duration` bigint NOT NULL,
  `preview_img_url` varchar(2048) NOT NULL,
  `started_at` bigint NOT NULL,
  `ended_at` bigint NOT NULL,
  `category_id` bigint NOT NULL,
  PRIMARY KEY (`id`),
  INDEX `vod_channel_id_started_at_id` (`channel_id`, `started_at`, `id`),
  INDEX `vod_channel_id_view_count_id` (`channel_id`, `view_count`, `id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
