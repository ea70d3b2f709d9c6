-- +goose Up
CREATE TABLE `event_subscriptions` (`id` blob NOT NULL, `session_id` blob NOT NULL, `type` text NOT NULL, `channel_id` blob NOT NULL, `condition_user_id` blob NOT NULL, `token_id` blob NOT NULL, `acting_user_id` blob NULL, `position` integer NOT NULL, `created_at` integer NOT NULL, PRIMARY KEY (`id`));
CREATE UNIQUE INDEX `eventsubscription_session_id_type_channel_id_condition_user_id` ON `event_subscriptions` (`session_id`, `type`, `channel_id`, `condition_user_id`);
CREATE INDEX `eventsubscription_channel_id` ON `event_subscriptions` (`channel_id`);
CREATE INDEX `eventsubscription_condition_user_id` ON `event_subscriptions` (`condition_user_id`);
CREATE INDEX `eventsubscription_acting_user_id` ON `event_subscriptions` (`acting_user_id`);
