-- +goose Up
CREATE TABLE `users` (
  `id` binary(16) NOT NULL,
  `username` varchar(40) NOT NULL,
  `slug` varchar(40) NOT NULL,
  `display_name` varchar(140) NOT NULL,
  `avatar_url` varchar(2048) NOT NULL,
  `created_at` bigint NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `user_slug` (`slug`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
