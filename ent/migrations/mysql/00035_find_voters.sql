-- +goose Up
UPDATE `votes` INNER JOIN `users` ON `users`.`slug` = LOWER(`votes`.`username`) SET `votes`.`user_id` = `users`.`id`;
