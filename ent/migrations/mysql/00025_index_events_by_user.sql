-- +goose Up
ALTER TABLE `events` ADD INDEX `event_actor_id_channel_id_sequence` (`actor_id`, `channel_id`, `sequence`), ADD INDEX `event_target_id_channel_id_sequence` (`target_id`, `channel_id`, `sequence`);
