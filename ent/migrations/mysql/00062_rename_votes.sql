-- +goose Up
UPDATE `votes` SET `username` = '~deleted' WHERE `username` = '-deleted-' AND `user_id` IS NULL;
