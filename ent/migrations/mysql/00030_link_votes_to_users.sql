-- +goose Up
ALTER TABLE `votes` ADD COLUMN `user_id` binary(16) NULL, ADD INDEX `vote_user_id` (`user_id`);
