-- +goose Up
CREATE TABLE `event_sinks` (
  `id` varchar(64) NOT NULL,
  `epoch` bigint NOT NULL,
  `expires_at` bigint NOT NULL,
  `position` bigint NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
