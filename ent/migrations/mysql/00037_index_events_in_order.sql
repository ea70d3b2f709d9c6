-- +goose Up
ALTER TABLE `events` DROP INDEX `event_position`, ADD INDEX `event_position_occurred_at_channel_id_sequence` (`position`, `occurred_at`, `channel_id`, `sequence`), ADD INDEX `event_type_occurred_at` (`type`, `occurred_at`), ADD INDEX `event_channel_id_type_sequence` (`channel_id`, `type`, `sequence`);
