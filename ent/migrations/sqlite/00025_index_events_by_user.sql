-- +goose Up
CREATE INDEX `event_actor_id_channel_id_sequence` ON `events` (`actor_id`, `channel_id`, `sequence`);
CREATE INDEX `event_target_id_channel_id_sequence` ON `events` (`target_id`, `channel_id`, `sequence`);
