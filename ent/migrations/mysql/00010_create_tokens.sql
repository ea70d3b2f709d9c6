-- +goose Up
CREATE TABLE `tokens` (
  `id` binary(32) NOT NULL,
  `kind` varchar(16) NOT NULL,
  `client_id` varchar(64) NOT NULL,
  `user_id` binary(16) NULL,
  `scopes` varchar(255) NOT NULL,
  `issued_at` bigint NOT NULL,
  `expires_at` bigint NULL,
  `revoked_at` bigint NULL,
  PRIMARY KEY (`id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
