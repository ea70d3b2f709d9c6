-- +goose Up
CREATE TABLE `grants` (
  `id` binary(16) NOT NULL,
  `client_id` varchar(64) NOT NULL,
  `user_id` binary(16) NOT NULL,
  `scopes` varchar(255) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `grant_client_id_user_id` (`client_id`, `user_id`),
  INDEX `grant_user_id` (`user_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
