-- +goose Up
-- The user who stands for deleted users gets an id and a name that nobody else can
-- have: the former id is common in test data, and the former names are usernames.
INSERT INTO `users` (`id`, `username`, `slug`, `display_name`, `avatar_url`, `created_at`, `deleted_at`) VALUES (X'5E1F8A0C93D74B6EA4C2D07B3E9F6185', '~deleted', '~deleted', 'Deleted user', '', 0, 0);
UPDATE `bans` SET `moderator_id` = X'5E1F8A0C93D74B6EA4C2D07B3E9F6185' WHERE `moderator_id` = X'00000000000040008000000000000000';
UPDATE `mutes` SET `moderator_id` = X'5E1F8A0C93D74B6EA4C2D07B3E9F6185' WHERE `moderator_id` = X'00000000000040008000000000000000';
UPDATE `clips` SET `creator_id` = X'5E1F8A0C93D74B6EA4C2D07B3E9F6185' WHERE `creator_id` = X'00000000000040008000000000000000';
UPDATE `votes` SET `username` = '~deleted' WHERE `username` = '-deleted-' AND `user_id` IS NULL;
UPDATE `events` SET `payload` = REPLACE(REPLACE(`payload`, '00000000-0000-4000-8000-000000000000', '5e1f8a0c-93d7-4b6e-a4c2-d07b3e9f6185'), '"-deleted-"', '"~deleted"') WHERE `actor_id` = X'00000000000040008000000000000000';
UPDATE `events` SET `payload` = REPLACE(REPLACE(`payload`, '00000000-0000-4000-8000-000000000000', '5e1f8a0c-93d7-4b6e-a4c2-d07b3e9f6185'), '"-deleted-"', '"~deleted"') WHERE `target_id` = X'00000000000040008000000000000000';
UPDATE `events` SET `actor_id` = X'5E1F8A0C93D74B6EA4C2D07B3E9F6185' WHERE `actor_id` = X'00000000000040008000000000000000';
UPDATE `events` SET `target_id` = X'5E1F8A0C93D74B6EA4C2D07B3E9F6185' WHERE `target_id` = X'00000000000040008000000000000000';
DELETE FROM `users` WHERE `id` = X'00000000000040008000000000000000';
UPDATE `users` SET `username` = '~' || LOWER(HEX(`id`)), `slug` = '~' || LOWER(HEX(`id`)) WHERE `deleted_at` > 0;
