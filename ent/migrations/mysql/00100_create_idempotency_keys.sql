-- +goose Up
CREATE TABLE `idempotency_keys` (
  `id` binary(32) NOT NULL,
  `user_id` binary(16) NULL,
  `request` binary(32) NOT NULL,
  `response` mediumblob NOT NULL,
  `created_at` bigint NOT NULL,
  PRIMARY KEY (`id`),
  INDEX `idempotencykey_user_id` (`user_id`),
  INDEX `idempotencykey_created_at` (`created_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
