-- +goose Up
CREATE TABLE `event_sessions` (
  `id` binary(16) NOT NULL,
  `server_id` binary(16) NOT NULL,
  `client_id` varchar(64) NULL,
  `user_id` binary(16) NULL,
  `is_changed` bool NOT NULL DEFAULT false,
  `seen_at` bigint NOT NULL,
  PRIMARY KEY (`id`),
  INDEX `eventsession_server_id_is_changed` (`server_id`, `is_changed`),
  INDEX `eventsession_client_id_user_id` (`client_id`, `user_id`),
  INDEX `eventsession_user_id` (`user_id`),
  INDEX `eventsession_seen_at` (`seen_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
