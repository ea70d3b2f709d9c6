-- +goose Up
CREATE TABLE `chat_servers` (
  `id` binary(16) NOT NULL,
  `listens_until` bigint NOT NULL,
  `sequence` bigint NOT NULL,
  `expires_at` bigint NOT NULL,
  PRIMARY KEY (`id`),
  INDEX `chatserver_expires_at` (`expires_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
