-- +goose Up
DROP INDEX `event_position`;
CREATE INDEX `event_position_occurred_at_channel_id_sequence` ON `events` (`position`, `occurred_at`, `channel_id`, `sequence`);
CREATE INDEX `event_type_occurred_at` ON `events` (`type`, `occurred_at`);
CREATE INDEX `event_channel_id_type_sequence` ON `events` (`channel_id`, `type`, `sequence`);
