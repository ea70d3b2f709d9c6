-- +goose Up
DROP INDEX `event_channel_id_operation_id`;
CREATE INDEX `event_channel_id_type_position` ON `events` (`channel_id`, `type`, `position`);
