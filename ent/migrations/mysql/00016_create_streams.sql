-- +goose Up
CREATE TABLE `streams` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `started_at` bigint NOT NULL,
  `ended_at` bigint NULL,
  `title` varchar(140) NOT NULL,
  `lang` varchar(35) NOT NULL,
  `category_id` bigint NOT NULL,
  `preview_img_url` varchar(2048) NOT NULL,
  `viewer_count` bigint NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `stream_channel_id_started_at` (`channel_id`, `started_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
