-- +goose Up
CREATE TABLE `event_sinks` (`id` text NOT NULL, `epoch` integer NOT NULL, `expires_at` integer NOT NULL, `position` integer NOT NULL, PRIMARY KEY (`id`));
