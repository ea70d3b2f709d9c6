-- +goose Up
CREATE INDEX `ban_user_id` ON `bans` (`user_id`);
CREATE INDEX `ban_moderator_id` ON `bans` (`moderator_id`);
