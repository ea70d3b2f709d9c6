-- +goose Up
CREATE TABLE `event_sequencers` (
  `id` bigint NOT NULL,
  `epoch` bigint NOT NULL,
  `expires_at` bigint NOT NULL,
  `last_position` bigint NOT NULL,
  `trimmed_position` bigint NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
