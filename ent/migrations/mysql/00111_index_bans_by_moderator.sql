-- +goose Up
ALTER TABLE `bans` DROP INDEX `ban_moderator_id`, ADD INDEX `ban_moderator_id_channel_id_banned_at_user_id` (`moderator_id`, `channel_id`, `banned_at`, `user_id`);
