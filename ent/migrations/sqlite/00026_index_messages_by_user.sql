-- +goose Up
DROP INDEX `message_channel_id_user_id_generation`;
CREATE INDEX `message_user_id_channel_id_generation` ON `messages` (`user_id`, `channel_id`, `generation`);
