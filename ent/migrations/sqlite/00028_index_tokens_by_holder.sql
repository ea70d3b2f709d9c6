-- +goose Up
CREATE INDEX `token_user_id` ON `tokens` (`user_id`);
CREATE INDEX `token_client_id` ON `tokens` (`client_id`);
