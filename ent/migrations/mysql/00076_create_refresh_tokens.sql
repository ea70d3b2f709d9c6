-- +goose Up
CREATE TABLE `refresh_tokens` (
  `id` binary(32) NOT NULL,
  `family_id` binary(16) NOT NULL,
  `client_id` varchar(64) NOT NULL,
  `user_id` binary(16) NOT NULL,
  `scopes` varchar(255) NOT NULL,
  `issued_at` bigint NOT NULL,
  `expires_at` bigint NOT NULL,
  `replaced_at` bigint NULL,
  PRIMARY KEY (`id`),
  INDEX `refreshtoken_family_id` (`family_id`),
  INDEX `refreshtoken_user_id` (`user_id`),
  INDEX `refreshtoken_client_id_user_id` (`client_id`, `user_id`),
  INDEX `refreshtoken_expires_at` (`expires_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
