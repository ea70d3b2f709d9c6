-- +goose Up
CREATE INDEX `mute_moderator_id_channel_id_muted_at_user_id` ON `mutes` (`moderator_id`, `channel_id`, `muted_at`, `user_id`);
