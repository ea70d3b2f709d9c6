-- +goose Up
ALTER TABLE `tokens` ADD INDEX `token_user_id` (`user_id`), ADD INDEX `token_client_id` (`client_id`);
