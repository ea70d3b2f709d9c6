-- +goose Up

CREATE TABLE `activities` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `user_id` blob NULL,
  `number` integer NOT NULL,
  `dedup_key` text NOT NULL,
  `type` text NOT NULL,
  `info` text NOT NULL,
  `action` text NOT NULL,
  `created_at` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `activity_channel_id_dedup_key` ON `activities` (`channel_id`, `dedup_key`);
CREATE INDEX `activity_channel_id_created_at_number` ON `activities` (`channel_id`, `created_at`, `number`);
CREATE INDEX `activity_channel_id_type_created_at_number` ON `activities` (`channel_id`, `type`, `created_at`, `number`);
CREATE INDEX `activity_user_id` ON `activities` (`user_id`);

CREATE TABLE `authorizations` (
  `id` blob NOT NULL,
  `secret` blob NOT NULL,
  `client_id` text NOT NULL,
  `status` text NOT NULL,
  `scopes` text NOT NULL,
  `issuer` text NOT NULL DEFAULT (''),
  `redirect_uri` text NOT NULL DEFAULT (''),
  `state` text NOT NULL DEFAULT (''),
  `code_challenge` text NOT NULL DEFAULT (''),
  `code` blob NULL,
  `code_expires_at` integer NULL,
  `user_id` blob NULL,
  `granted` text NOT NULL DEFAULT (''),
  `family_id` blob NULL,
  `is_device` bool NOT NULL,
  `poll_interval` integer NOT NULL DEFAULT (0),
  `polled_at` integer NULL,
  `created_at` integer NOT NULL,
  `expires_at` integer NOT NULL,
  `kept_until` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `authorization_code` ON `authorizations` (`code`);
CREATE INDEX `authorization_user_id` ON `authorizations` (`user_id`);
CREATE INDEX `authorization_client_id` ON `authorizations` (`client_id`);
CREATE INDEX `authorization_kept_until` ON `authorizations` (`kept_until`);

CREATE TABLE `ban_batches` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `moderator_id` blob NOT NULL,
  `created_at` integer NOT NULL,
  `reason` text NOT NULL DEFAULT (''),
  `expires_at` integer NULL,
  `banned_count` integer NOT NULL,
  `first_sequence` integer NOT NULL,
  `last_sequence` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE INDEX `banbatch_channel_id_created_at_id` ON `ban_batches` (`channel_id`, `created_at`, `id`);
CREATE INDEX `banbatch_moderator_id` ON `ban_batches` (`moderator_id`);
CREATE INDEX `banbatch_created_at` ON `ban_batches` (`created_at`);

CREATE TABLE `bans` (
  `channel_id` blob NOT NULL,
  `user_id` blob NOT NULL,
  `moderator_id` blob NOT NULL,
  `banned_at` integer NOT NULL,
  `reason` text NOT NULL DEFAULT (''),
  `expires_at` integer NULL,
  `batch_id` blob NULL,
  `replaces` bool NOT NULL DEFAULT (false),
  `imported` bool NOT NULL DEFAULT (false),
  PRIMARY KEY (`channel_id`, `user_id`)
);
CREATE INDEX `ban_channel_id_banned_at_user_id` ON `bans` (`channel_id`, `banned_at`, `user_id`);
CREATE INDEX `ban_user_id` ON `bans` (`user_id`);
CREATE INDEX `ban_expires_at` ON `bans` (`expires_at`);
CREATE INDEX `ban_batch_id_channel_id_banned_at_user_id` ON `bans` (`batch_id`, `channel_id`, `banned_at`, `user_id`);
CREATE INDEX `ban_moderator_id_channel_id_banned_at_user_id` ON `bans` (`moderator_id`, `channel_id`, `banned_at`, `user_id`);

CREATE TABLE `categories` (
  `id` integer NOT NULL,
  `parent_id` integer NULL,
  `name` text NOT NULL,
  `slug` text NOT NULL,
  `image_url` text NOT NULL,
  PRIMARY KEY (`id`)
);

CREATE TABLE `channel_count_deltas` (
  `id` blob NOT NULL,
  `count_id` integer NOT NULL,
  `delta` integer NOT NULL,
  PRIMARY KEY (`id`)
);

CREATE TABLE `channel_counts` (
  `id` integer NOT NULL,
  `count` integer NOT NULL,
  PRIMARY KEY (`id`)
);

CREATE TABLE `channel_metrics` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `seconds` integer NOT NULL,
  `started_at` integer NOT NULL,
  `messages` integer NOT NULL,
  `first_messages` integer NOT NULL,
  `follows` integer NOT NULL,
  `bans` integer NOT NULL,
  `mutes` integer NOT NULL,
  `held` integer NOT NULL,
  `viewers` integer NULL,
  PRIMARY KEY (`id`)
);
CREATE INDEX `channelmetric_channel_id_seconds_started_at` ON `channel_metrics` (`channel_id`, `seconds`, `started_at`, `messages`, `first_messages`, `follows`, `bans`, `mutes`, `held`, `viewers`);
CREATE INDEX `channelmetric_started_at` ON `channel_metrics` (`started_at`);

CREATE TABLE `channels` (
  `id` blob NOT NULL,
  `title` text NOT NULL,
  `bio` text NOT NULL,
  `lang` text NOT NULL,
  `category_id` integer NOT NULL DEFAULT (0),
  `event_sequence` integer NOT NULL DEFAULT (0),
  `created_at` integer NOT NULL,
  `activity_number` integer NOT NULL DEFAULT (0),
  `follower_count` integer NOT NULL DEFAULT (0),
  `subscriber_count` integer NOT NULL DEFAULT (0),
  `clip_count` integer NOT NULL DEFAULT (0),
  `vod_count` integer NOT NULL DEFAULT (0),
  `is_live` bool NOT NULL DEFAULT (false),
  `viewer_count` integer NOT NULL DEFAULT (0),
  `live_started_at` integer NULL,
  `preview_img_url` text NOT NULL DEFAULT (''),
  `new_follower_count` integer NOT NULL DEFAULT (0),
  `new_subscriber_count` integer NOT NULL DEFAULT (0),
  `trimmed_sequence` integer NOT NULL DEFAULT (0),
  `tier` integer NOT NULL DEFAULT (0),
  PRIMARY KEY (`id`)
);
CREATE INDEX `channel_is_live_viewer_count_id` ON `channels` (`is_live`, `viewer_count`, `id`);
CREATE INDEX `channel_category_id_is_live_viewer_count_id` ON `channels` (`category_id`, `is_live`, `viewer_count`, `id`);

CREATE TABLE `chat_batches` (
  `id` blob NOT NULL,
  `server_id` blob NOT NULL,
  `sequence` integer NOT NULL,
  `created_at` integer NOT NULL,
  `messages` blob NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `chatbatch_server_id_sequence` ON `chat_batches` (`server_id`, `sequence`);
CREATE INDEX `chatbatch_created_at` ON `chat_batches` (`created_at`);

CREATE TABLE `chat_generations` (
  `channel_id` blob NOT NULL,
  `generation` integer NOT NULL,
  `raised_at` integer NOT NULL,
  `purge_at` integer NULL,
  PRIMARY KEY (`channel_id`)
);
CREATE INDEX `chatgeneration_purge_at` ON `chat_generations` (`purge_at`);

CREATE TABLE `chat_rule_versions` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `version` integer NOT NULL,
  `moderator_id` blob NULL,
  `client_id` text NOT NULL DEFAULT (''),
  `cause` text NOT NULL,
  `changed_at` integer NOT NULL,
  `changes` text NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `chatruleversion_channel_id_version` ON `chat_rule_versions` (`channel_id`, `version`);
CREATE INDEX `chatruleversion_changed_at` ON `chat_rule_versions` (`changed_at`);
CREATE INDEX `chatruleversion_moderator_id_channel_id` ON `chat_rule_versions` (`moderator_id`, `channel_id`);

CREATE TABLE `chat_rules` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `rule_id` blob NOT NULL,
  `since_version` integer NOT NULL,
  `until_version` integer NULL,
  `rule` text NOT NULL,
  `editor_id` blob NOT NULL,
  `expires_at` integer NULL,
  `ended_at` integer NULL,
  PRIMARY KEY (`id`)
);
CREATE INDEX `chatrule_channel_id_until_version_rule_id` ON `chat_rules` (`channel_id`, `until_version`, `rule_id`);
CREATE INDEX `chatrule_expires_at` ON `chat_rules` (`expires_at`);
CREATE INDEX `chatrule_ended_at` ON `chat_rules` (`ended_at`);
CREATE INDEX `chatrule_editor_id_channel_id` ON `chat_rules` (`editor_id`, `channel_id`);

CREATE TABLE `chat_servers` (
  `id` blob NOT NULL,
  `listens_until` integer NOT NULL,
  `sequence` integer NOT NULL,
  `expires_at` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE INDEX `chatserver_expires_at` ON `chat_servers` (`expires_at`);

CREATE TABLE `chat_settings` (
  `channel_id` blob NOT NULL,
  `version` integer NOT NULL,
  `settings` text NOT NULL,
  `rules_version` integer NOT NULL DEFAULT (0),
  `has_checks` bool NOT NULL,
  `ends_at` integer NULL,
  `changed_at` integer NOT NULL,
  PRIMARY KEY (`channel_id`)
);
CREATE INDEX `chatsettings_ends_at` ON `chat_settings` (`ends_at`);
CREATE INDEX `chatsettings_has_checks_channel_id` ON `chat_settings` (`has_checks`, `channel_id`);
CREATE INDEX `chatsettings_changed_at` ON `chat_settings` (`changed_at`);

CREATE TABLE `chatters` (
  `channel_id` blob NOT NULL,
  `user_id` blob NOT NULL,
  `last_day` integer NOT NULL,
  PRIMARY KEY (`channel_id`, `user_id`)
);
CREATE INDEX `chatter_channel_id_last_day` ON `chatters` (`channel_id`, `last_day`);
CREATE INDEX `chatter_last_day` ON `chatters` (`last_day`);
CREATE INDEX `chatter_user_id` ON `chatters` (`user_id`);

CREATE TABLE `clients` (
  `id` text NOT NULL,
  `name` text NOT NULL,
  `service` bool NOT NULL,
  `created_at` integer NOT NULL,
  `redirect_uris` text NOT NULL DEFAULT (''),
  `scopes` text NOT NULL DEFAULT (''),
  `public` bool NOT NULL DEFAULT (false),
  `secret` blob NULL,
  `previous_secret` blob NULL,
  `previous_secret_until` integer NULL,
  PRIMARY KEY (`id`)
);

CREATE TABLE `clips` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `creator_id` blob NOT NULL,
  `title` text NOT NULL,
  `view_count` integer NOT NULL,
  `duration` integer NOT NULL,
  `preview_img_url` text NOT NULL,
  `clip_url` text NOT NULL,
  `category_id` integer NOT NULL,
  `created_at` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE INDEX `clip_channel_id_created_at_id` ON `clips` (`channel_id`, `created_at`, `id`);
CREATE INDEX `clip_channel_id_view_count_id` ON `clips` (`channel_id`, `view_count`, `id`);
CREATE INDEX `clip_creator_id` ON `clips` (`creator_id`);
CREATE INDEX `clip_category_id` ON `clips` (`category_id`);

CREATE TABLE `cursor_keys` (
  `id` integer NOT NULL,
  `secret` blob NOT NULL,
  `created_at` integer NOT NULL,
  PRIMARY KEY (`id`)
);

CREATE TABLE `emotes` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `name` text NOT NULL,
  `image_url` text NOT NULL,
  `is_public` bool NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `emote_channel_id_name` ON `emotes` (`channel_id`, `name`);

CREATE TABLE `erasures` (
  `id` blob NOT NULL,
  `is_user` bool NOT NULL,
  `requested_at` integer NOT NULL,
  `next_at` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE INDEX `erasure_next_at` ON `erasures` (`next_at`);

CREATE TABLE `event_sequencers` (
  `id` integer NOT NULL,
  `epoch` integer NOT NULL,
  `expires_at` integer NOT NULL,
  `last_position` integer NOT NULL,
  `trimmed_position` integer NOT NULL,
  `rewrites` integer NOT NULL DEFAULT (0),
  `imports` integer NOT NULL DEFAULT (0),
  PRIMARY KEY (`id`)
);
INSERT INTO `event_sequencers` (`id`, `epoch`, `expires_at`, `last_position`, `trimmed_position`) VALUES (1, 0, 0, 0, 0);

CREATE TABLE `event_sessions` (
  `id` blob NOT NULL,
  `server_id` blob NOT NULL,
  `client_id` text NULL,
  `user_id` blob NULL,
  `is_changed` bool NOT NULL DEFAULT (false),
  `seen_at` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE INDEX `eventsession_server_id_is_changed` ON `event_sessions` (`server_id`, `is_changed`);
CREATE INDEX `eventsession_client_id_user_id` ON `event_sessions` (`client_id`, `user_id`);
CREATE INDEX `eventsession_user_id` ON `event_sessions` (`user_id`);
CREATE INDEX `eventsession_seen_at` ON `event_sessions` (`seen_at`);

CREATE TABLE `event_sinks` (
  `id` text NOT NULL,
  `epoch` integer NOT NULL,
  `expires_at` integer NOT NULL,
  `position` integer NOT NULL,
  PRIMARY KEY (`id`)
);
INSERT INTO `event_sinks` (`id`, `epoch`, `expires_at`, `position`) VALUES ('nats', 0, 0, 0);

CREATE TABLE `event_subscriptions` (
  `id` blob NOT NULL,
  `session_id` blob NOT NULL,
  `type` text NOT NULL,
  `channel_id` blob NOT NULL,
  `condition_user_id` blob NOT NULL,
  `token_id` blob NOT NULL,
  `acting_user_id` blob NULL,
  `position` integer NOT NULL,
  `created_at` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `eventsubscription_session_id_type_channel_id` ON `event_subscriptions` (`session_id`, `type`, `channel_id`);
CREATE INDEX `eventsubscription_channel_id` ON `event_subscriptions` (`channel_id`);
CREATE INDEX `eventsubscription_condition_user_id` ON `event_subscriptions` (`condition_user_id`);
CREATE INDEX `eventsubscription_acting_user_id` ON `event_subscriptions` (`acting_user_id`);

CREATE TABLE `event_tickets` (
  `id` blob NOT NULL,
  `token_id` blob NOT NULL,
  `user_id` blob NULL,
  `expires_at` integer NOT NULL,
  `redeemed_by` blob NULL,
  PRIMARY KEY (`id`)
);
CREATE INDEX `eventticket_user_id` ON `event_tickets` (`user_id`);
CREATE INDEX `eventticket_expires_at` ON `event_tickets` (`expires_at`);

CREATE TABLE `events` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `sequence` integer NOT NULL,
  `position` integer NULL,
  `type` text NOT NULL,
  `operation_id` blob NOT NULL,
  `actor_id` blob NULL,
  `target_id` blob NULL,
  `client_id` text NOT NULL,
  `request_id` text NOT NULL,
  `occurred_at` integer NOT NULL,
  `payload` text NOT NULL,
  `evidence` text NULL,
  `traceparent` text NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `event_channel_id_sequence` ON `events` (`channel_id`, `sequence`);
CREATE INDEX `event_actor_id_channel_id_sequence` ON `events` (`actor_id`, `channel_id`, `sequence`);
CREATE INDEX `event_target_id_channel_id_sequence` ON `events` (`target_id`, `channel_id`, `sequence`);
CREATE INDEX `event_position_occurred_at_channel_id_sequence` ON `events` (`position`, `occurred_at`, `channel_id`, `sequence`);
CREATE INDEX `event_type_occurred_at` ON `events` (`type`, `occurred_at`);
CREATE INDEX `event_channel_id_type_sequence` ON `events` (`channel_id`, `type`, `sequence`);
CREATE INDEX `event_channel_id_type_position` ON `events` (`channel_id`, `type`, `position`);

CREATE TABLE `first_messages` (
  `channel_id` blob NOT NULL,
  `user_id` blob NOT NULL,
  `sent_at` integer NOT NULL,
  PRIMARY KEY (`channel_id`, `user_id`)
);
CREATE INDEX `firstmessage_user_id` ON `first_messages` (`user_id`);

CREATE TABLE `follows` (
  `channel_id` blob NOT NULL,
  `user_id` blob NOT NULL,
  `followed_at` integer NOT NULL,
  `is_notification_enabled` bool NOT NULL,
  PRIMARY KEY (`channel_id`, `user_id`)
);
CREATE INDEX `follow_channel_id_followed_at_user_id` ON `follows` (`channel_id`, `followed_at`, `user_id`);
CREATE INDEX `follow_user_id_followed_at_channel_id` ON `follows` (`user_id`, `followed_at`, `channel_id`);

CREATE TABLE `grants` (
  `id` blob NOT NULL,
  `client_id` text NOT NULL,
  `user_id` blob NOT NULL,
  `scopes` text NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `grant_client_id_user_id` ON `grants` (`client_id`, `user_id`);
CREATE INDEX `grant_user_id` ON `grants` (`user_id`);

CREATE TABLE `held_messages` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `user_id` blob NOT NULL,
  `text` text NOT NULL,
  `details` text NOT NULL,
  `rule_id` blob NULL,
  `reply_to_message_id` blob NULL,
  `is_bot` bool NOT NULL DEFAULT (false),
  `held_at` integer NOT NULL,
  `expires_at` integer NOT NULL,
  `approves` bool NOT NULL DEFAULT (false),
  `due_at` integer NULL,
  `status` text NOT NULL,
  `claimed_by` blob NULL,
  `claimed_until` integer NULL,
  `decided_by` blob NULL,
  `decided_at` integer NULL,
  PRIMARY KEY (`id`)
);
CREATE INDEX `heldmessage_channel_id_status_held_at_id` ON `held_messages` (`channel_id`, `status`, `held_at`, `id`);
CREATE INDEX `heldmessage_user_id_channel_id_status_held_at_id` ON `held_messages` (`user_id`, `channel_id`, `status`, `held_at`, `id`);
CREATE INDEX `heldmessage_channel_id_rule_id_status_held_at_id` ON `held_messages` (`channel_id`, `rule_id`, `status`, `held_at`, `id`);
CREATE INDEX `heldmessage_due_at` ON `held_messages` (`due_at`);
CREATE INDEX `heldmessage_decided_at` ON `held_messages` (`decided_at`);
CREATE INDEX `heldmessage_claimed_by` ON `held_messages` (`claimed_by`);
CREATE INDEX `heldmessage_decided_by` ON `held_messages` (`decided_by`);

CREATE TABLE `idempotency_keys` (
  `id` blob NOT NULL,
  `user_id` blob NULL,
  `request` blob NOT NULL,
  `response` blob NOT NULL,
  `created_at` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE INDEX `idempotencykey_user_id` ON `idempotency_keys` (`user_id`);
CREATE INDEX `idempotencykey_created_at` ON `idempotency_keys` (`created_at`);

CREATE TABLE `message_generations` (
  `channel_id` blob NOT NULL,
  `user_id` blob NOT NULL,
  `generation` integer NOT NULL,
  `raised_at` integer NOT NULL,
  `purge_at` integer NULL,
  `restorable` integer NULL,
  `restorable_until` integer NULL,
  `restorable_raised_at` integer NULL,
  `restored_from` integer NULL,
  `restorable_by_mute` bool NOT NULL DEFAULT (false),
  `earlier` integer NULL,
  `earlier_until` integer NULL,
  `earlier_raised_at` integer NULL,
  PRIMARY KEY (`channel_id`, `user_id`)
);
CREATE INDEX `messagegeneration_purge_at` ON `message_generations` (`purge_at`);
CREATE INDEX `messagegeneration_user_id` ON `message_generations` (`user_id`);

CREATE TABLE `messages` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `user_id` blob NOT NULL,
  `generation` integer NOT NULL,
  `text` text NOT NULL,
  `sent_at` integer NOT NULL,
  `reply_to_message_id` blob NULL,
  `is_bot` bool NOT NULL DEFAULT (false),
  PRIMARY KEY (`id`)
);
CREATE INDEX `message_channel_id_sent_at_id` ON `messages` (`channel_id`, `sent_at`, `id`);
CREATE INDEX `message_user_id_channel_id_generation_sent_at_id` ON `messages` (`user_id`, `channel_id`, `generation`, `sent_at`, `id`);

CREATE TABLE `mutes` (
  `channel_id` blob NOT NULL,
  `user_id` blob NOT NULL,
  `moderator_id` blob NOT NULL,
  `muted_at` integer NOT NULL,
  `expires_at` integer NOT NULL,
  `reason` text NOT NULL DEFAULT (''),
  `rule_id` blob NULL,
  PRIMARY KEY (`channel_id`, `user_id`)
);
CREATE INDEX `mute_channel_id_muted_at_user_id` ON `mutes` (`channel_id`, `muted_at`, `user_id`);
CREATE INDEX `mute_expires_at` ON `mutes` (`expires_at`);
CREATE INDEX `mute_moderator_id_channel_id_muted_at_user_id` ON `mutes` (`moderator_id`, `channel_id`, `muted_at`, `user_id`);
CREATE INDEX `mute_channel_id_rule_id_muted_at_user_id` ON `mutes` (`channel_id`, `rule_id`, `muted_at`, `user_id`);

CREATE TABLE `pardons` (
  `id` blob NOT NULL,
  `sweep_id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `user_id` blob NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `pardon_sweep_id_user_id` ON `pardons` (`sweep_id`, `user_id`);
CREATE INDEX `pardon_channel_id` ON `pardons` (`channel_id`);
CREATE INDEX `pardon_user_id` ON `pardons` (`user_id`);

CREATE TABLE `pinned_messages` (
  `channel_id` blob NOT NULL,
  `message_id` blob NOT NULL,
  `user_id` blob NOT NULL,
  PRIMARY KEY (`channel_id`)
);
CREATE INDEX `pinnedmessage_user_id` ON `pinned_messages` (`user_id`);

CREATE TABLE `raids` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `dedup_key` text NOT NULL,
  `raider_id` blob NOT NULL,
  `viewer_count` integer NOT NULL,
  `raided_at` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `raid_channel_id_dedup_key` ON `raids` (`channel_id`, `dedup_key`);
CREATE INDEX `raid_channel_id_raided_at_id` ON `raids` (`channel_id`, `raided_at`, `id`);
CREATE INDEX `raid_raider_id` ON `raids` (`raider_id`);

CREATE TABLE `refresh_tokens` (
  `id` blob NOT NULL,
  `family_id` blob NOT NULL,
  `client_id` text NOT NULL,
  `user_id` blob NOT NULL,
  `scopes` text NOT NULL,
  `issued_at` integer NOT NULL,
  `expires_at` integer NOT NULL,
  `replaced_at` integer NULL,
  `earlier_successor` blob NULL,
  `latest_successor` blob NULL,
  PRIMARY KEY (`id`)
);
CREATE INDEX `refreshtoken_family_id` ON `refresh_tokens` (`family_id`);
CREATE INDEX `refreshtoken_user_id` ON `refresh_tokens` (`user_id`);
CREATE INDEX `refreshtoken_client_id_user_id` ON `refresh_tokens` (`client_id`, `user_id`);
CREATE INDEX `refreshtoken_expires_at` ON `refresh_tokens` (`expires_at`);

CREATE TABLE `replaced_bans` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `user_id` blob NOT NULL,
  `sequence` integer NOT NULL,
  `moderator_id` blob NOT NULL,
  `banned_at` integer NOT NULL,
  `reason` text NOT NULL DEFAULT (''),
  `expires_at` integer NULL,
  `batch_id` blob NULL,
  `replaces` bool NOT NULL DEFAULT (false),
  `imported` bool NOT NULL DEFAULT (false),
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `replacedban_channel_id_user_id_sequence` ON `replaced_bans` (`channel_id`, `user_id`, `sequence`);
CREATE INDEX `replacedban_batch_id` ON `replaced_bans` (`batch_id`);
CREATE INDEX `replacedban_user_id` ON `replaced_bans` (`user_id`);
CREATE INDEX `replacedban_moderator_id_channel_id_banned_at` ON `replaced_bans` (`moderator_id`, `channel_id`, `banned_at`);

CREATE TABLE `retentions` (
  `id` text NOT NULL,
  `epoch` integer NOT NULL,
  `expires_at` integer NOT NULL,
  `done_before` integer NOT NULL,
  `round_before` integer NOT NULL,
  `round_after` blob NULL,
  PRIMARY KEY (`id`)
);
INSERT INTO `retentions` (`id`, `epoch`, `expires_at`, `done_before`, `round_before`) VALUES ('events', 0, 0, 0, 0), ('messages', 0, 0, 0, 0);

CREATE TABLE `roles` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `user_id` blob NOT NULL,
  `role` text NOT NULL,
  `created_at` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `role_channel_id_user_id_role` ON `roles` (`channel_id`, `user_id`, `role`);
CREATE INDEX `role_channel_id_role_created_at_user_id` ON `roles` (`channel_id`, `role`, `created_at`, `user_id`);
CREATE INDEX `role_user_id_role_created_at_channel_id` ON `roles` (`user_id`, `role`, `created_at`, `channel_id`);

CREATE TABLE `shields` (
  `channel_id` blob NOT NULL,
  `preset` text NOT NULL,
  `preset_version` integer NOT NULL DEFAULT (0),
  `starts_itself` bool NOT NULL DEFAULT (false),
  `follows_per_minute` integer NULL,
  `first_messages_per_minute` integer NULL,
  `held_per_minute` integer NULL,
  `rests_until` integer NULL,
  `started_by` blob NULL,
  `cause` text NOT NULL DEFAULT (''),
  `reason` text NOT NULL DEFAULT (''),
  `started_at` integer NULL,
  `ends_at` integer NULL,
  PRIMARY KEY (`channel_id`)
);
CREATE INDEX `shield_started_by` ON `shields` (`started_by`);
CREATE INDEX `shield_starts_itself_channel_id` ON `shields` (`starts_itself`, `channel_id`);

CREATE TABLE `standing_subscribers` (
  `id` blob NOT NULL,
  `client_id` text NOT NULL,
  `name` text NOT NULL,
  `hears_all` bool NOT NULL,
  `channel_ids` blob NOT NULL,
  `position` integer NOT NULL,
  `delays` blob NOT NULL,
  `expires_at` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `standingsubscriber_client_id_name` ON `standing_subscribers` (`client_id`, `name`);
CREATE INDEX `standingsubscriber_expires_at` ON `standing_subscribers` (`expires_at`);

CREATE TABLE `streams` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `started_at` integer NOT NULL,
  `ended_at` integer NULL,
  `title` text NOT NULL,
  `lang` text NOT NULL,
  `category_id` integer NOT NULL,
  `preview_img_url` text NOT NULL,
  `viewer_count` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `stream_channel_id_started_at` ON `streams` (`channel_id`, `started_at`);
CREATE INDEX `stream_channel_id_ended_at_started_at` ON `streams` (`channel_id`, `ended_at`, `started_at`);
CREATE INDEX `stream_category_id` ON `streams` (`category_id`);

CREATE TABLE `subscriptions` (
  `channel_id` blob NOT NULL,
  `user_id` blob NOT NULL,
  `subscribed_at` integer NOT NULL,
  `expires_at` integer NOT NULL,
  `renew_count` integer NOT NULL,
  `streak_count` integer NOT NULL,
  `is_active` bool NOT NULL,
  PRIMARY KEY (`channel_id`, `user_id`)
);
CREATE INDEX `subscription_channel_id_is_active_subscribed_at_user_id` ON `subscriptions` (`channel_id`, `is_active`, `subscribed_at`, `user_id`);
CREATE INDEX `subscription_channel_id_is_active_expires_at` ON `subscriptions` (`channel_id`, `is_active`, `expires_at`);
CREATE INDEX `subscription_is_active_expires_at` ON `subscriptions` (`is_active`, `expires_at`);
CREATE INDEX `subscription_user_id` ON `subscriptions` (`user_id`);

CREATE TABLE `sweep_chunks` (
  `id` blob NOT NULL,
  `sweep_id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `number` integer NOT NULL,
  `user_ids` blob NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `sweepchunk_sweep_id_number` ON `sweep_chunks` (`sweep_id`, `number`);
CREATE INDEX `sweepchunk_channel_id` ON `sweep_chunks` (`channel_id`);

CREATE TABLE `sweeps` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `user_id` blob NOT NULL,
  `phrase` text NOT NULL DEFAULT (''),
  `pattern` text NOT NULL DEFAULT (''),
  `exempt_follow_age` integer NOT NULL,
  `exempt_subscribers` bool NOT NULL,
  `expires_at` integer NOT NULL,
  `batch_id` blob NULL,
  `moderator_id` blob NULL,
  `client_id` text NOT NULL DEFAULT (''),
  `needs_grant` bool NOT NULL DEFAULT (false),
  `reason` text NOT NULL DEFAULT (''),
  `bans_expire_at` integer NULL,
  `afterglow_until` integer NULL,
  `banned_count` integer NOT NULL DEFAULT (0),
  `already_banned_count` integer NOT NULL DEFAULT (0),
  `extended_count` integer NOT NULL DEFAULT (0),
  `not_found_count` integer NOT NULL DEFAULT (0),
  `due_at` integer NULL,
  `remove_at` integer NULL,
  `ended_at` integer NULL,
  PRIMARY KEY (`id`)
);
CREATE INDEX `sweep_due_at` ON `sweeps` (`due_at`);
CREATE INDEX `sweep_afterglow_until` ON `sweeps` (`afterglow_until`);
CREATE INDEX `sweep_remove_at` ON `sweeps` (`remove_at`);
CREATE INDEX `sweep_batch_id` ON `sweeps` (`batch_id`);
CREATE INDEX `sweep_channel_id` ON `sweeps` (`channel_id`);
CREATE INDEX `sweep_user_id` ON `sweeps` (`user_id`);
CREATE INDEX `sweep_moderator_id` ON `sweeps` (`moderator_id`);

CREATE TABLE `tokens` (
  `id` blob NOT NULL,
  `kind` text NOT NULL,
  `client_id` text NOT NULL,
  `user_id` blob NULL,
  `scopes` text NOT NULL,
  `issued_at` integer NOT NULL,
  `expires_at` integer NULL,
  `revoked_at` integer NULL,
  `family_id` blob NULL,
  PRIMARY KEY (`id`)
);
CREATE INDEX `token_user_id` ON `tokens` (`user_id`);
CREATE INDEX `token_client_id` ON `tokens` (`client_id`);
CREATE INDEX `token_expires_at` ON `tokens` (`expires_at`);
CREATE INDEX `token_family_id` ON `tokens` (`family_id`);

CREATE TABLE `unique_texts` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `message_id` blob NOT NULL,
  `sent_at` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE INDEX `uniquetext_sent_at` ON `unique_texts` (`sent_at`);
CREATE INDEX `uniquetext_channel_id` ON `unique_texts` (`channel_id`);

CREATE TABLE `users` (
  `id` blob NOT NULL,
  `username` text NOT NULL,
  `slug` text NOT NULL,
  `display_name` text NOT NULL,
  `avatar_url` text NOT NULL,
  `created_at` integer NOT NULL,
  `account_created_at` integer NULL,
  `deleted_at` integer NULL,
  `rights_version` integer NOT NULL DEFAULT (0),
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `user_slug` ON `users` (`slug`);
-- The user who replaces deleted users: see package users.
INSERT INTO `users` (`id`, `username`, `slug`, `display_name`, `avatar_url`, `created_at`, `deleted_at`) VALUES (X'5E1F8A0C93D74B6EA4C2D07B3E9F6185', '~deleted', '~deleted', 'Deleted user', '', 0, 0);

CREATE TABLE `vods` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `title` text NOT NULL,
  `view_count` integer NOT NULL,
  `duration` integer NOT NULL,
  `preview_img_url` text NOT NULL,
  `started_at` integer NOT NULL,
  `ended_at` integer NOT NULL,
  `category_id` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE INDEX `vod_channel_id_started_at_id` ON `vods` (`channel_id`, `started_at`, `id`);
CREATE INDEX `vod_channel_id_view_count_id` ON `vods` (`channel_id`, `view_count`, `id`);
CREATE INDEX `vod_category_id` ON `vods` (`category_id`);

CREATE TABLE `votes` (
  `id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `epoch` integer NOT NULL,
  `username` text NOT NULL,
  `address` text NOT NULL,
  `amount` integer NOT NULL,
  `voted_at` integer NOT NULL,
  `user_id` blob NULL,
  PRIMARY KEY (`id`)
);
CREATE INDEX `vote_channel_id_voted_at_id` ON `votes` (`channel_id`, `voted_at`, `id`);
CREATE INDEX `vote_channel_id_epoch_voted_at_id` ON `votes` (`channel_id`, `epoch`, `voted_at`, `id`);
CREATE INDEX `vote_username` ON `votes` (`username`);
CREATE INDEX `vote_user_id` ON `votes` (`user_id`);

CREATE TABLE `webhook_deliveries` (
  `id` blob NOT NULL,
  `webhook_id` blob NOT NULL,
  `channel_id` blob NOT NULL,
  `event_id` blob NOT NULL,
  `position` integer NOT NULL,
  `type` text NOT NULL,
  `status` text NOT NULL,
  `is_repeat` bool NOT NULL DEFAULT (false),
  `attempts` integer NOT NULL DEFAULT (0),
  `last_status` integer NULL,
  `last_error` text NOT NULL DEFAULT (''),
  `first_attempt_at` integer NULL,
  `next_attempt_at` integer NOT NULL,
  `finished_at` integer NULL,
  `tries` integer NOT NULL DEFAULT (0),
  `delivered_at` integer NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `webhookdelivery_webhook_id_position` ON `webhook_deliveries` (`webhook_id`, `position`);
CREATE INDEX `webhookdelivery_webhook_id_status_position` ON `webhook_deliveries` (`webhook_id`, `status`, `position`);
CREATE INDEX `webhookdelivery_finished_at` ON `webhook_deliveries` (`finished_at`);
CREATE INDEX `webhookdelivery_channel_id` ON `webhook_deliveries` (`channel_id`);

CREATE TABLE `webhooks` (
  `id` blob NOT NULL,
  `channel_id` blob NULL,
  `user_id` blob NULL,
  `client_id` text NOT NULL,
  `url` text NOT NULL,
  `types` text NOT NULL,
  `secret` text NOT NULL,
  `former_secret` text NOT NULL DEFAULT (''),
  `former_until` integer NULL,
  `created_at` integer NOT NULL,
  `disabled_reason` text NOT NULL DEFAULT (''),
  `last_success_at` integer NULL,
  `last_error` text NOT NULL DEFAULT (''),
  `position` integer NOT NULL,
  `next_at` integer NULL,
  `is_claimed` bool NOT NULL DEFAULT (false),
  `is_blocked` bool NOT NULL DEFAULT (false),
  `epoch` integer NOT NULL DEFAULT (0),
  `paused_until` integer NULL,
  `heard_from` integer NULL,
  `is_slow` bool NOT NULL DEFAULT (false),
  `audience` text NOT NULL DEFAULT ('moderators'),
  `holder` text NOT NULL DEFAULT (''),
  PRIMARY KEY (`id`)
);
CREATE INDEX `webhook_channel_id` ON `webhooks` (`channel_id`);
CREATE INDEX `webhook_user_id` ON `webhooks` (`user_id`);
CREATE INDEX `webhook_next_at` ON `webhooks` (`next_at`);
CREATE INDEX `webhook_disabled_reason` ON `webhooks` (`disabled_reason`);
CREATE INDEX `webhook_client_id_holder` ON `webhooks` (`client_id`, `holder`);
