-- +goose Up
CREATE INDEX `messagegeneration_user_id` ON `message_generations` (`user_id`);
