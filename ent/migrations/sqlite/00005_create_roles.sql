-- +goose Up
CREATE TABLE `roles` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `user_id` blob NOT NULL,
  `role` text NOT NULL,
  `created_at` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `role_channel_id_user_id_role` ON `roles` (`channel_id`, `user_id`, `role`);
CREATE INDEX `role_channel_id_role_created_at_user_id` ON `roles` (`channel_id`, `role`, `created_at`, `user_id`);
CREATE INDEX `role_user_id_role_created_at_channel_id` ON `roles` (`user_id`, `role`, `created_at`, `channel_id`);
