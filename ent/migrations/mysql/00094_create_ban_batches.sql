-- +goose Up
CREATE TABLE `ban_batches` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `moderator_id` binary(16) NOT NULL,
  `created_at` bigint NOT NULL,
  `reason` varchar(500) NOT NULL DEFAULT '',
  `expires_at` bigint NULL,
  `banned_count` bigint NOT NULL,
  `first_sequence` bigint NOT NULL,
  `last_sequence` bigint NOT NULL,
  PRIMARY KEY (`id`),
  INDEX `banbatch_channel_id_created_at_id` (`channel_id`, `created_at`, `id`),
  INDEX `banbatch_moderator_id` (`moderator_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
