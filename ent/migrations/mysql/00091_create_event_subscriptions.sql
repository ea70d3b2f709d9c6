-- +goose Up
CREATE TABLE `event_subscriptions` (
  `id` binary(16) NOT NULL,
  `session_id` binary(16) NOT NULL,
  `type` varchar(64) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `condition_user_id` binary(16) NOT NULL,
  `token_id` binary(32) NOT NULL,
  `acting_user_id` binary(16) NULL,
  `position` bigint NOT NULL,
  `created_at` bigint NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `eventsubscription_session_id_type_channel_id_condition_user_id` (`session_id`, `type`, `channel_id`, `condition_user_id`),
  INDEX `eventsubscription_channel_id` (`channel_id`),
  INDEX `eventsubscription_condition_user_id` (`condition_user_id`),
  INDEX `eventsubscription_acting_user_id` (`acting_user_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
