-- +goose Up
CREATE TABLE `activities` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `user_id` binary(16) NULL,
  `number` bigint NOT NULL,
  `dedup_key` varchar(64) NOT NULL,
  `type` varchar(16) NOT NULL,
  `info` mediumtext NOT NULL,
  `action` mediumtext NOT NULL,
  `created_at` bigint NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `activity_channel_id_dedup_key` (`channel_id`, `dedup_key`),
  INDEX `activity_channel_id_created_at_number` (`channel_id`, `created_at`, `number`),
  INDEX `activity_channel_id_type_created_at_number` (`channel_id`, `type`, `created_at`, `number`),
  INDEX `activity_user_id` (`user_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
