-- +goose Up
INSERT INTO `event_sequencers` (`id`, `epoch`, `expires_at`, `last_position`, `trimmed_position`) VALUES (1, 0, 0, 0, 0);
