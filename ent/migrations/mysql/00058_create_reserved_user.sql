-- +goose Up
-- The user who stands for deleted users gets an id and a name that nobody else can
-- have: the former id is common in test data, and the former names are usernames.
INSERT INTO `users` (`id`, `username`, `slug`, `display_name`, `avatar_url`, `created_at`, `deleted_at`) VALUES (X'5E1F8A0C93D74B6EA4C2D07B3E9F6185', '~deleted', '~deleted', 'Deleted user', '', 0, 0);
