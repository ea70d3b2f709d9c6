-- +goose Up
CREATE TABLE `event_sequencers` (`id` integer NOT NULL, `epoch` integer NOT NULL, `expires_at` integer NOT NULL, `last_position` integer NOT NULL, `trimmed_position` integer NOT NULL, PRIMARY KEY (`id`));
