-- +goose Up
ALTER TABLE `message_generations` ADD INDEX `messagegeneration_user_id` (`user_id`);
