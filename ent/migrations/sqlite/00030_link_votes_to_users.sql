-- +goose Up
ALTER TABLE `votes` ADD COLUMN `user_id` blob NULL;
CREATE INDEX `vote_user_id` ON `votes` (`user_id`);
