-- +goose Up
DROP INDEX `ban_moderator_id`;
CREATE INDEX `ban_moderator_id_channel_id_banned_at_user_id` ON `bans` (`moderator_id`, `channel_id`, `banned_at`, `user_id`);
