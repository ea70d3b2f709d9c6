-- +goose Up
ALTER TABLE `messages` DROP INDEX `message_user_id_channel_id_generation`, ADD INDEX `message_user_id_channel_id_generation_sent_at_id` (`user_id`, `channel_id`, `generation`, `sent_at`, `id`);
