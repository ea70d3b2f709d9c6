-- +goose Up
CREATE TABLE `roles` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `user_id` binary(16) NOT NULL,
  `role` varchar(16) NOT NULL,
  `created_at` bigint NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `role_channel_id_user_id_role` (`channel_id`, `user_id`, `role`),
  INDEX `role_channel_id_role_created_at_user_id` (`channel_id`, `role`, `created_at`, `user_id`),
  INDEX `role_user_id_role_created_at_channel_id` (`user_id`, `role`, `created_at`, `channel_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
