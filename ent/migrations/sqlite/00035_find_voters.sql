-- +goose Up
UPDATE `votes` SET `user_id` = (SELECT `id` FROM `users` WHERE `slug` = lower(`votes`.`username`));
