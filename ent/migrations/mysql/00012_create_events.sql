-- +goose Up
CREATE TABLE `events` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `sequence` bigint NOT NULL,
  `position` bigint NULL,
  `type` varchar(64) NOT NULL,
  `operation_id` binary(16) NOT NULL,
  `actor_id` binary(16) NULL,
  `target_id` binary(16) NULL,
  `client_id` varchar(64) NOT NULL,
  `request_id` varchar(64) NOT NULL,
  `occurred_at` bigint NOT NULL,
  `payload` mediumtext NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `event_channel_id_sequence` (`channel_id`, `sequence`),
  INDEX `event_channel_id_operation_id` (`channel_id`, `operation_id`),
  INDEX `event_position` (`position`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
