-- +goose Up
ALTER TABLE `messages` DROP INDEX `message_channel_id_user_id_generation`, ADD INDEX `message_user_id_channel_id_generation` (`user_id`, `channel_id`, `generation`);
