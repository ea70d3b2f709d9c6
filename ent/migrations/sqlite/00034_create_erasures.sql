-- +goose Up
CREATE TABLE `erasures` (`id` blob NOT NULL, `is_user` bool NOT NULL, `requested_at` integer NOT NULL, `next_at` integer NOT NULL, PRIMARY KEY (`id`));
CREATE INDEX `erasure_next_at` ON `erasures` (`next_at`);
