-- +goose Up
ALTER TABLE `message_generations` ADD COLUMN `restorable_by_mute` bool NOT NULL DEFAULT (false);
ALTER TABLE `message_generations` ADD COLUMN `earlier` integer NULL;
ALTER TABLE `message_generations` ADD COLUMN `earlier_until` integer NULL;
ALTER TABLE `message_generations` ADD COLUMN `earlier_raised_at` integer NULL;
