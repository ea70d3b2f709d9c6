-- +goose Up
ALTER TABLE `message_generations` ADD COLUMN `restorable` integer NULL;
ALTER TABLE `message_generations` ADD COLUMN `restorable_until` integer NULL;
ALTER TABLE `message_generations` ADD COLUMN `restorable_raised_at` integer NULL;
ALTER TABLE `message_generations` ADD COLUMN `restored_from` integer NULL;
