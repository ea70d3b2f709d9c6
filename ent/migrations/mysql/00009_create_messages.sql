-- +goose Up
CREATE TABLE `messages` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `user_id` binary(16) NOT NULL,
  `generation` bigint NOT NULL,
  `text` varchar(500) NOT NULL,
  `sent_at` bigint NOT NULL,
  PRIMARY KEY (`id`),
  INDEX `message_channel_id_sent_at_id` (`channel_id`, `sent_at`, `id`),
  INDEX `message_channel_id_user_id_generation` (`channel_id`, `user_id`, `generation`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
