-- +goose Up
ALTER TABLE `bans` ADD INDEX `ban_user_id` (`user_id`), ADD INDEX `ban_moderator_id` (`moderator_id`);
