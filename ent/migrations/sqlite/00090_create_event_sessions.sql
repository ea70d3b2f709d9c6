-- +goose Up
CREATE TABLE `event_sessions` (`id` blob NOT NULL, `server_id` blob NOT NULL, `client_id` text NULL, `user_id` blob NULL, `is_changed` bool NOT NULL DEFAULT (false), `seen_at` integer NOT NULL, PRIMARY KEY (`id`));
CREATE INDEX `eventsession_server_id_is_changed` ON `event_sessions` (`server_id`, `is_changed`);
CREATE INDEX `eventsession_client_id_user_id` ON `event_sessions` (`client_id`, `user_id`);
CREATE INDEX `eventsession_user_id` ON `event_sessions` (`user_id`);
CREATE INDEX `eventsession_seen_at` ON `event_sessions` (`seen_at`);
