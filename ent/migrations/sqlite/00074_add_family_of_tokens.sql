-- +goose Up
ALTER TABLE `tokens` ADD COLUMN `family_id` blob NULL;
CREATE INDEX `token_family_id` ON `tokens` (`family_id`);
