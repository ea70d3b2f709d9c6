-- +goose Up
DROP INDEX `message_user_id_channel_id_generation`;
CREATE INDEX `message_user_id_channel_id_generation_sent_at_id` ON `messages` (`user_id`, `channel_id`, `generation`, `sent_at`, `id`);
