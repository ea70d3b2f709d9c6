-- +goose Up
-- Who stands where a deleted user stood and somebody must: it exists for nobody.
INSERT INTO `users` (`id`, `username`, `slug`, `display_name`, `avatar_url`, `created_at`, `deleted_at`) VALUES (X'00000000000040008000000000000000', '-deleted-', '-deleted-', 'Deleted user', '', 0, 0);
