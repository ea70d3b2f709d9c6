-- +goose Up
INSERT INTO `event_sinks` (`id`, `epoch`, `expires_at`, `position`) SELECT 'nats', 0, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM `event_sinks` WHERE `id` = 'nats');
