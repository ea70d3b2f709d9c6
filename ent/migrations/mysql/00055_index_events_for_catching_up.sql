-- +goose Up
ALTER TABLE `events` DROP INDEX `event_channel_id_operation_id`, ADD INDEX `event_channel_id_type_position` (`channel_id`, `type`, `position`);
