-- +goose Up
-- MySQL commits each statement that creates a table. An interrupted migration starts again,
-- so each statement is safe to repeat.

CREATE TABLE IF NOT EXISTS `activities` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `user_id` binary(16) NULL,
  `number` bigint NOT NULL,
  `dedup_key` varchar(64) NOT NULL,
  `type` varchar(16) NOT NULL,
  `info` mediumtext NOT NULL,
  `action` mediumtext NOT NULL,
  `created_at` bigint NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `activity_channel_id_dedup_key` (`channel_id`, `dedup_key`),
  INDEX `activity_channel_id_created_at_number` (`channel_id`, `created_at`, `number`),
  INDEX `activity_channel_id_type_created_at_number` (`channel_id`, `type`, `created_at`, `number`),
  INDEX `activity_user_id` (`user_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `authorizations` (
  `id` binary(32) NOT NULL,
  `secret` binary(32) NOT NULL,
  `client_id` varchar(64) NOT NULL,
  `status` varchar(16) NOT NULL,
  `scopes` varchar(255) NOT NULL,
  `issuer` varchar(512) NOT NULL DEFAULT '',
  `redirect_uri` varchar(2048) NOT NULL DEFAULT '',
  `state` varchar(2048) NOT NULL DEFAULT '',
  `code_challenge` varchar(64) NOT NULL DEFAULT '',
  `code` binary(32) NULL,
  `code_expires_at` bigint NULL,
  `user_id` binary(16) NULL,
  `granted` varchar(255) NOT NULL DEFAULT '',
  `family_id` binary(16) NULL,
  `is_device` bool NOT NULL,
  `poll_interval` bigint NOT NULL DEFAULT 0,
  `polled_at` bigint NULL,
  `created_at` bigint NOT NULL,
  `expires_at` bigint NOT NULL,
  `kept_until` bigint NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `authorization_code` (`code`),
  INDEX `authorization_user_id` (`user_id`),
  INDEX `authorization_client_id` (`client_id`),
  INDEX `authorization_kept_until` (`kept_until`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `ban_batches` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `moderator_id` binary(16) NOT NULL,
  `created_at` bigint NOT NULL,
  `reason` varchar(500) NOT NULL DEFAULT '',
  `expires_at` bigint NULL,
  `banned_count` bigint NOT NULL,
  `first_sequence` bigint NOT NULL,
  `last_sequence` bigint NOT NULL,
  PRIMARY KEY (`id`),
  INDEX `banbatch_channel_id_created_at_id` (`channel_id`, `created_at`, `id`),
  INDEX `banbatch_moderator_id` (`moderator_id`),
  INDEX `banbatch_created_at` (`created_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `bans` (
  `channel_id` binary(16) NOT NULL,
  `user_id` binary(16) NOT NULL,
  `moderator_id` binary(16) NOT NULL,
  `banned_at` bigint NOT NULL,
  `reason` varchar(500) NOT NULL DEFAULT '',
  `expires_at` bigint NULL,
  `batch_id` binary(16) NULL,
  `replaces` bool NOT NULL DEFAULT false,
  `imported` bool NOT NULL DEFAULT false,
  PRIMARY KEY (`channel_id`, `user_id`),
  INDEX `ban_channel_id_banned_at_user_id` (`channel_id`, `banned_at`, `user_id`),
  INDEX `ban_user_id` (`user_id`),
  INDEX `ban_expires_at` (`expires_at`),
  INDEX `ban_batch_id_channel_id_banned_at_user_id` (`batch_id`, `channel_id`, `banned_at`, `user_id`),
  INDEX `ban_moderator_id_channel_id_banned_at_user_id` (`moderator_id`, `channel_id`, `banned_at`, `user_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `categories` (
  `id` bigint NOT NULL,
  `parent_id` bigint NULL,
  `name` varchar(140) NOT NULL,
  `slug` varchar(140) NOT NULL,
  `image_url` varchar(2048) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `channel_count_deltas` (
  `id` binary(16) NOT NULL,
  `count_id` bigint NOT NULL,
  `delta` bigint NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `channel_counts` (
  `id` bigint NOT NULL,
  `count` bigint NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `channel_metrics` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `seconds` bigint NOT NULL,
  `started_at` bigint NOT NULL,
  `messages` bigint NOT NULL,
  `first_messages` bigint NOT NULL,
  `follows` bigint NOT NULL,
  `bans` bigint NOT NULL,
  `mutes` bigint NOT NULL,
  `held` bigint NOT NULL,
  `viewers` bigint NULL,
  PRIMARY KEY (`id`),
  INDEX `channelmetric_channel_id_seconds_started_at` (`channel_id`, `seconds`, `started_at`, `messages`, `first_messages`, `follows`, `bans`, `mutes`, `held`, `viewers`),
  INDEX `channelmetric_started_at` (`started_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `channels` (
  `id` binary(16) NOT NULL,
  `title` varchar(140) NOT NULL,
  `bio` varchar(300) NOT NULL,
  `lang` varchar(35) NOT NULL,
  `category_id` bigint NOT NULL DEFAULT 0,
  `event_sequence` bigint NOT NULL DEFAULT 0,
  `created_at` bigint NOT NULL,
  `activity_number` bigint NOT NULL DEFAULT 0,
  `follower_count` bigint NOT NULL DEFAULT 0,
  `subscriber_count` bigint NOT NULL DEFAULT 0,
  `clip_count` bigint NOT NULL DEFAULT 0,
  `vod_count` bigint NOT NULL DEFAULT 0,
  `is_live` bool NOT NULL DEFAULT false,
  `viewer_count` bigint NOT NULL DEFAULT 0,
  `live_started_at` bigint NULL,
  `preview_img_url` varchar(2048) NOT NULL DEFAULT '',
  `new_follower_count` bigint NOT NULL DEFAULT 0,
  `new_subscriber_count` bigint NOT NULL DEFAULT 0,
  `trimmed_sequence` bigint NOT NULL DEFAULT 0,
  `tier` bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (`id`),
  INDEX `channel_is_live_viewer_count_id` (`is_live`, `viewer_count`, `id`),
  INDEX `channel_category_id_is_live_viewer_count_id` (`category_id`, `is_live`, `viewer_count`, `id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `chat_batches` (
  `id` binary(16) NOT NULL,
  `server_id` binary(16) NOT NULL,
  `sequence` bigint NOT NULL,
  `created_at` bigint NOT NULL,
  `messages` mediumblob NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `chatbatch_server_id_sequence` (`server_id`, `sequence`),
  INDEX `chatbatch_created_at` (`created_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `chat_generations` (
  `channel_id` binary(16) NOT NULL,
  `generation` bigint NOT NULL,
  `raised_at` bigint NOT NULL,
  `purge_at` bigint NULL,
  PRIMARY KEY (`channel_id`),
  INDEX `chatgeneration_purge_at` (`purge_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `chat_rule_versions` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `version` bigint NOT NULL,
  `moderator_id` binary(16) NULL,
  `client_id` varchar(64) NOT NULL DEFAULT '',
  `cause` varchar(16) NOT NULL,
  `changed_at` bigint NOT NULL,
  `changes` mediumtext NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `chatruleversion_channel_id_version` (`channel_id`, `version`),
  INDEX `chatruleversion_changed_at` (`changed_at`),
  INDEX `chatruleversion_moderator_id_channel_id` (`moderator_id`, `channel_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `chat_rules` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `rule_id` binary(16) NOT NULL,
  `since_version` bigint NOT NULL,
  `until_version` bigint NULL,
  `rule` mediumtext NOT NULL,
  `editor_id` binary(16) NOT NULL,
  `expires_at` bigint NULL,
  `ended_at` bigint NULL,
  PRIMARY KEY (`id`),
  INDEX `chatrule_channel_id_until_version_rule_id` (`channel_id`, `until_version`, `rule_id`),
  INDEX `chatrule_expires_at` (`expires_at`),
  INDEX `chatrule_ended_at` (`ended_at`),
  INDEX `chatrule_editor_id_channel_id` (`editor_id`, `channel_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `chat_servers` (
  `id` binary(16) NOT NULL,
  `listens_until` bigint NOT NULL,
  `sequence` bigint NOT NULL,
  `expires_at` bigint NOT NULL,
  PRIMARY KEY (`id`),
  INDEX `chatserver_expires_at` (`expires_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `chat_settings` (
  `channel_id` binary(16) NOT NULL,
  `version` bigint NOT NULL,
  `settings` mediumtext NOT NULL,
  `rules_version` bigint NOT NULL DEFAULT 0,
  `has_checks` bool NOT NULL,
  `ends_at` bigint NULL,
  `changed_at` bigint NOT NULL,
  PRIMARY KEY (`channel_id`),
  INDEX `chatsettings_ends_at` (`ends_at`),
  INDEX `chatsettings_has_checks_channel_id` (`has_checks`, `channel_id`),
  INDEX `chatsettings_changed_at` (`changed_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `chatters` (
  `channel_id` binary(16) NOT NULL,
  `user_id` binary(16) NOT NULL,
  `last_day` bigint NOT NULL,
  PRIMARY KEY (`channel_id`, `user_id`),
  INDEX `chatter_channel_id_last_day` (`channel_id`, `last_day`),
  INDEX `chatter_last_day` (`last_day`),
  INDEX `chatter_user_id` (`user_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `clients` (
  `id` varchar(64) NOT NULL,
  `name` varchar(140) NOT NULL,
  `service` bool NOT NULL,
  `created_at` bigint NOT NULL,
  `redirect_uris` varchar(4096) NOT NULL DEFAULT '',
  `scopes` varchar(255) NOT NULL DEFAULT '',
  `public` bool NOT NULL DEFAULT false,
  `secret` binary(32) NULL,
  `previous_secret` binary(32) NULL,
  `previous_secret_until` bigint NULL,
  PRIMARY KEY (`id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `clips` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `creator_id` binary(16) NOT NULL,
  `title` varchar(140) NOT NULL,
  `view_count` bigint NOT NULL,
  `duration` bigint NOT NULL,
  `preview_img_url` varchar(2048) NOT NULL,
  `clip_url` varchar(2048) NOT NULL,
  `category_id` bigint NOT NULL,
  `created_at` bigint NOT NULL,
  PRIMARY KEY (`id`),
  INDEX `clip_channel_id_created_at_id` (`channel_id`, `created_at`, `id`),
  INDEX `clip_channel_id_view_count_id` (`channel_id`, `view_count`, `id`),
  INDEX `clip_creator_id` (`creator_id`),
  INDEX `clip_category_id` (`category_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `cursor_keys` (
  `id` bigint NOT NULL,
  `secret` binary(32) NOT NULL,
  `created_at` bigint NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `emotes` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `name` varchar(40) NOT NULL,
  `image_url` varchar(2048) NOT NULL,
  `is_public` bool NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `emote_channel_id_name` (`channel_id`, `name`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `erasures` (
  `id` binary(16) NOT NULL,
  `is_user` bool NOT NULL,
  `requested_at` bigint NOT NULL,
  `next_at` bigint NOT NULL,
  PRIMARY KEY (`id`),
  INDEX `erasure_next_at` (`next_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `event_sequencers` (
  `id` bigint NOT NULL,
  `epoch` bigint NOT NULL,
  `expires_at` bigint NOT NULL,
  `last_position` bigint NOT NULL,
  `trimmed_position` bigint NOT NULL,
  `rewrites` bigint NOT NULL DEFAULT 0,
  `imports` bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (`id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
INSERT IGNORE INTO `event_sequencers` (`id`, `epoch`, `expires_at`, `last_position`, `trimmed_position`) VALUES (1, 0, 0, 0, 0);

CREATE TABLE IF NOT EXISTS `event_sessions` (
  `id` binary(16) NOT NULL,
  `server_id` binary(16) NOT NULL,
  `client_id` varchar(64) NULL,
  `user_id` binary(16) NULL,
  `is_changed` bool NOT NULL DEFAULT false,
  `seen_at` bigint NOT NULL,
  PRIMARY KEY (`id`),
  INDEX `eventsession_server_id_is_changed` (`server_id`, `is_changed`),
  INDEX `eventsession_client_id_user_id` (`client_id`, `user_id`),
  INDEX `eventsession_user_id` (`user_id`),
  INDEX `eventsession_seen_at` (`seen_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `event_sinks` (
  `id` varchar(64) NOT NULL,
  `epoch` bigint NOT NULL,
  `expires_at` bigint NOT NULL,
  `position` bigint NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
INSERT IGNORE INTO `event_sinks` (`id`, `epoch`, `expires_at`, `position`) VALUES ('nats', 0, 0, 0);

CREATE TABLE IF NOT EXISTS `event_subscriptions` (
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
  UNIQUE INDEX `eventsubscription_session_id_type_channel_id` (`session_id`, `type`, `channel_id`),
  INDEX `eventsubscription_channel_id` (`channel_id`),
  INDEX `eventsubscription_condition_user_id` (`condition_user_id`),
  INDEX `eventsubscription_acting_user_id` (`acting_user_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `event_tickets` (
  `id` binary(32) NOT NULL,
  `token_id` binary(32) NOT NULL,
  `user_id` binary(16) NULL,
  `expires_at` bigint NOT NULL,
  `redeemed_by` binary(16) NULL,
  PRIMARY KEY (`id`),
  INDEX `eventticket_user_id` (`user_id`),
  INDEX `eventticket_expires_at` (`expires_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `events` (
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
  `evidence` mediumtext NULL,
  `traceparent` varchar(55) NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `event_channel_id_sequence` (`channel_id`, `sequence`),
  INDEX `event_actor_id_channel_id_sequence` (`actor_id`, `channel_id`, `sequence`),
  INDEX `event_target_id_channel_id_sequence` (`target_id`, `channel_id`, `sequence`),
  INDEX `event_position_occurred_at_channel_id_sequence` (`position`, `occurred_at`, `channel_id`, `sequence`),
  INDEX `event_type_occurred_at` (`type`, `occurred_at`),
  INDEX `event_channel_id_type_sequence` (`channel_id`, `type`, `sequence`),
  INDEX `event_channel_id_type_position` (`channel_id`, `type`, `position`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `first_messages` (
  `channel_id` binary(16) NOT NULL,
  `user_id` binary(16) NOT NULL,
  `sent_at` bigint NOT NULL,
  PRIMARY KEY (`channel_id`, `user_id`),
  INDEX `firstmessage_user_id` (`user_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `follows` (
  `channel_id` binary(16) NOT NULL,
  `user_id` binary(16) NOT NULL,
  `followed_at` bigint NOT NULL,
  `is_notification_enabled` bool NOT NULL,
  PRIMARY KEY (`channel_id`, `user_id`),
  INDEX `follow_channel_id_followed_at_user_id` (`channel_id`, `followed_at`, `user_id`),
  INDEX `follow_user_id_followed_at_channel_id` (`user_id`, `followed_at`, `channel_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `grants` (
  `id` binary(16) NOT NULL,
  `client_id` varchar(64) NOT NULL,
  `user_id` binary(16) NOT NULL,
  `scopes` varchar(255) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `grant_client_id_user_id` (`client_id`, `user_id`),
  INDEX `grant_user_id` (`user_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `held_messages` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `user_id` binary(16) NOT NULL,
  `text` varchar(500) NOT NULL,
  `details` text NOT NULL,
  `rule_id` binary(16) NULL,
  `reply_to_message_id` binary(16) NULL,
  `is_bot` bool NOT NULL DEFAULT false,
  `held_at` bigint NOT NULL,
  `expires_at` bigint NOT NULL,
  `approves` bool NOT NULL DEFAULT false,
  `due_at` bigint NULL,
  `status` varchar(16) NOT NULL,
  `claimed_by` binary(16) NULL,
  `claimed_until` bigint NULL,
  `decided_by` binary(16) NULL,
  `decided_at` bigint NULL,
  PRIMARY KEY (`id`),
  INDEX `heldmessage_channel_id_status_held_at_id` (`channel_id`, `status`, `held_at`, `id`),
  INDEX `heldmessage_user_id_channel_id_status_held_at_id` (`user_id`, `channel_id`, `status`, `held_at`, `id`),
  INDEX `heldmessage_channel_id_rule_id_status_held_at_id` (`channel_id`, `rule_id`, `status`, `held_at`, `id`),
  INDEX `heldmessage_due_at` (`due_at`),
  INDEX `heldmessage_decided_at` (`decided_at`),
  INDEX `heldmessage_claimed_by` (`claimed_by`),
  INDEX `heldmessage_decided_by` (`decided_by`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `idempotency_keys` (
  `id` binary(32) NOT NULL,
  `user_id` binary(16) NULL,
  `request` binary(32) NOT NULL,
  `response` mediumblob NOT NULL,
  `created_at` bigint NOT NULL,
  PRIMARY KEY (`id`),
  INDEX `idempotencykey_user_id` (`user_id`),
  INDEX `idempotencykey_created_at` (`created_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `message_generations` (
  `channel_id` binary(16) NOT NULL,
  `user_id` binary(16) NOT NULL,
  `generation` bigint NOT NULL,
  `raised_at` bigint NOT NULL,
  `purge_at` bigint NULL,
  `restorable` bigint NULL,
  `restorable_until` bigint NULL,
  `restorable_raised_at` bigint NULL,
  `restored_from` bigint NULL,
  `restorable_by_mute` bool NOT NULL DEFAULT false,
  `earlier` bigint NULL,
  `earlier_until` bigint NULL,
  `earlier_raised_at` bigint NULL,
  PRIMARY KEY (`channel_id`, `user_id`),
  INDEX `messagegeneration_purge_at` (`purge_at`),
  INDEX `messagegeneration_user_id` (`user_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `messages` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `user_id` binary(16) NOT NULL,
  `generation` bigint NOT NULL,
  `text` varchar(500) NOT NULL,
  `sent_at` bigint NOT NULL,
  `reply_to_message_id` binary(16) NULL,
  `is_bot` bool NOT NULL DEFAULT false,
  PRIMARY KEY (`id`),
  INDEX `message_channel_id_sent_at_id` (`channel_id`, `sent_at`, `id`),
  INDEX `message_user_id_channel_id_generation_sent_at_id` (`user_id`, `channel_id`, `generation`, `sent_at`, `id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `mutes` (
  `channel_id` binary(16) NOT NULL,
  `user_id` binary(16) NOT NULL,
  `moderator_id` binary(16) NOT NULL,
  `muted_at` bigint NOT NULL,
  `expires_at` bigint NOT NULL,
  `reason` varchar(500) NOT NULL DEFAULT '',
  `rule_id` binary(16) NULL,
  PRIMARY KEY (`channel_id`, `user_id`),
  INDEX `mute_channel_id_muted_at_user_id` (`channel_id`, `muted_at`, `user_id`),
  INDEX `mute_expires_at` (`expires_at`),
  INDEX `mute_moderator_id_channel_id_muted_at_user_id` (`moderator_id`, `channel_id`, `muted_at`, `user_id`),
  INDEX `mute_channel_id_rule_id_muted_at_user_id` (`channel_id`, `rule_id`, `muted_at`, `user_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `pardons` (
  `id` binary(16) NOT NULL,
  `sweep_id` binary(32) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `user_id` binary(16) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `pardon_sweep_id_user_id` (`sweep_id`, `user_id`),
  INDEX `pardon_channel_id` (`channel_id`),
  INDEX `pardon_user_id` (`user_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `pinned_messages` (
  `channel_id` binary(16) NOT NULL,
  `message_id` binary(16) NOT NULL,
  `user_id` binary(16) NOT NULL,
  PRIMARY KEY (`channel_id`),
  INDEX `pinnedmessage_user_id` (`user_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `raids` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `dedup_key` varchar(64) NOT NULL,
  `raider_id` binary(16) NOT NULL,
  `viewer_count` bigint NOT NULL,
  `raided_at` bigint NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `raid_channel_id_dedup_key` (`channel_id`, `dedup_key`),
  INDEX `raid_channel_id_raided_at_id` (`channel_id`, `raided_at`, `id`),
  INDEX `raid_raider_id` (`raider_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `refresh_tokens` (
  `id` binary(32) NOT NULL,
  `family_id` binary(16) NOT NULL,
  `client_id` varchar(64) NOT NULL,
  `user_id` binary(16) NOT NULL,
  `scopes` varchar(255) NOT NULL,
  `issued_at` bigint NOT NULL,
  `expires_at` bigint NOT NULL,
  `replaced_at` bigint NULL,
  `earlier_successor` binary(32) NULL,
  `latest_successor` binary(32) NULL,
  PRIMARY KEY (`id`),
  INDEX `refreshtoken_family_id` (`family_id`),
  INDEX `refreshtoken_user_id` (`user_id`),
  INDEX `refreshtoken_client_id_user_id` (`client_id`, `user_id`),
  INDEX `refreshtoken_expires_at` (`expires_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `replaced_bans` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `user_id` binary(16) NOT NULL,
  `sequence` bigint NOT NULL,
  `moderator_id` binary(16) NOT NULL,
  `banned_at` bigint NOT NULL,
  `reason` varchar(500) NOT NULL DEFAULT '',
  `expires_at` bigint NULL,
  `batch_id` binary(16) NULL,
  `replaces` bool NOT NULL DEFAULT false,
  `imported` bool NOT NULL DEFAULT false,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `replacedban_channel_id_user_id_sequence` (`channel_id`, `user_id`, `sequence`),
  INDEX `replacedban_batch_id` (`batch_id`),
  INDEX `replacedban_user_id` (`user_id`),
  INDEX `replacedban_moderator_id_channel_id_banned_at` (`moderator_id`, `channel_id`, `banned_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `retentions` (
  `id` varchar(64) NOT NULL,
  `epoch` bigint NOT NULL,
  `expires_at` bigint NOT NULL,
  `done_before` bigint NOT NULL,
  `round_before` bigint NOT NULL,
  `round_after` binary(16) NULL,
  PRIMARY KEY (`id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
INSERT IGNORE INTO `retentions` (`id`, `epoch`, `expires_at`, `done_before`, `round_before`) VALUES ('events', 0, 0, 0, 0), ('messages', 0, 0, 0, 0);

CREATE TABLE IF NOT EXISTS `roles` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `user_id` binary(16) NOT NULL,
  `role` varchar(16) NOT NULL,
  `created_at` bigint NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `role_channel_id_user_id_role` (`channel_id`, `user_id`, `role`),
  INDEX `role_channel_id_role_created_at_user_id` (`channel_id`, `role`, `created_at`, `user_id`),
  INDEX `role_user_id_role_created_at_channel_id` (`user_id`, `role`, `created_at`, `channel_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `shields` (
  `channel_id` binary(16) NOT NULL,
  `preset` mediumtext NOT NULL,
  `preset_version` bigint NOT NULL DEFAULT 0,
  `starts_itself` bool NOT NULL DEFAULT false,
  `follows_per_minute` bigint NULL,
  `first_messages_per_minute` bigint NULL,
  `held_per_minute` bigint NULL,
  `rests_until` bigint NULL,
  `started_by` binary(16) NULL,
  `cause` varchar(16) NOT NULL DEFAULT '',
  `reason` varchar(500) NOT NULL DEFAULT '',
  `started_at` bigint NULL,
  `ends_at` bigint NULL,
  PRIMARY KEY (`channel_id`),
  INDEX `shield_started_by` (`started_by`),
  INDEX `shield_starts_itself_channel_id` (`starts_itself`, `channel_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `standing_subscribers` (
  `id` binary(16) NOT NULL,
  `client_id` varchar(64) NOT NULL,
  `name` varchar(64) NOT NULL,
  `hears_all` bool NOT NULL,
  `channel_ids` blob NOT NULL,
  `position` bigint NOT NULL,
  `delays` blob NOT NULL,
  `expires_at` bigint NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `standingsubscriber_client_id_name` (`client_id`, `name`),
  INDEX `standingsubscriber_expires_at` (`expires_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `streams` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `started_at` bigint NOT NULL,
  `ended_at` bigint NULL,
  `title` varchar(140) NOT NULL,
  `lang` varchar(35) NOT NULL,
  `category_id` bigint NOT NULL,
  `preview_img_url` varchar(2048) NOT NULL,
  `viewer_count` bigint NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `stream_channel_id_started_at` (`channel_id`, `started_at`),
  INDEX `stream_channel_id_ended_at_started_at` (`channel_id`, `ended_at`, `started_at`),
  INDEX `stream_category_id` (`category_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `subscriptions` (
  `channel_id` binary(16) NOT NULL,
  `user_id` binary(16) NOT NULL,
  `subscribed_at` bigint NOT NULL,
  `expires_at` bigint NOT NULL,
  `renew_count` bigint NOT NULL,
  `streak_count` bigint NOT NULL,
  `is_active` bool NOT NULL,
  PRIMARY KEY (`channel_id`, `user_id`),
  INDEX `subscription_channel_id_is_active_subscribed_at_user_id` (`channel_id`, `is_active`, `subscribed_at`, `user_id`),
  INDEX `subscription_channel_id_is_active_expires_at` (`channel_id`, `is_active`, `expires_at`),
  INDEX `subscription_is_active_expires_at` (`is_active`, `expires_at`),
  INDEX `subscription_user_id` (`user_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `sweep_chunks` (
  `id` binary(16) NOT NULL,
  `sweep_id` binary(32) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `number` bigint NOT NULL,
  `user_ids` blob NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `sweepchunk_sweep_id_number` (`sweep_id`, `number`),
  INDEX `sweepchunk_channel_id` (`channel_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `sweeps` (
  `id` binary(32) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `user_id` binary(16) NOT NULL,
  `phrase` varchar(500) NOT NULL DEFAULT '',
  `pattern` varchar(500) NOT NULL DEFAULT '',
  `exempt_follow_age` bigint NOT NULL,
  `exempt_subscribers` bool NOT NULL,
  `expires_at` bigint NOT NULL,
  `batch_id` binary(16) NULL,
  `moderator_id` binary(16) NULL,
  `client_id` varchar(64) NOT NULL DEFAULT '',
  `needs_grant` bool NOT NULL DEFAULT false,
  `reason` varchar(500) NOT NULL DEFAULT '',
  `bans_expire_at` bigint NULL,
  `afterglow_until` bigint NULL,
  `banned_count` bigint NOT NULL DEFAULT 0,
  `already_banned_count` bigint NOT NULL DEFAULT 0,
  `extended_count` bigint NOT NULL DEFAULT 0,
  `not_found_count` bigint NOT NULL DEFAULT 0,
  `due_at` bigint NULL,
  `remove_at` bigint NULL,
  `ended_at` bigint NULL,
  PRIMARY KEY (`id`),
  INDEX `sweep_due_at` (`due_at`),
  INDEX `sweep_afterglow_until` (`afterglow_until`),
  INDEX `sweep_remove_at` (`remove_at`),
  INDEX `sweep_batch_id` (`batch_id`),
  INDEX `sweep_channel_id` (`channel_id`),
  INDEX `sweep_user_id` (`user_id`),
  INDEX `sweep_moderator_id` (`moderator_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `tokens` (
  `id` binary(32) NOT NULL,
  `kind` varchar(16) NOT NULL,
  `client_id` varchar(64) NOT NULL,
  `user_id` binary(16) NULL,
  `scopes` varchar(255) NOT NULL,
  `issued_at` bigint NOT NULL,
  `expires_at` bigint NULL,
  `revoked_at` bigint NULL,
  `family_id` binary(16) NULL,
  PRIMARY KEY (`id`),
  INDEX `token_user_id` (`user_id`),
  INDEX `token_client_id` (`client_id`),
  INDEX `token_expires_at` (`expires_at`),
  INDEX `token_family_id` (`family_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `unique_texts` (
  `id` binary(32) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `message_id` binary(16) NOT NULL,
  `sent_at` bigint NOT NULL,
  PRIMARY KEY (`id`),
  INDEX `uniquetext_sent_at` (`sent_at`),
  INDEX `uniquetext_channel_id` (`channel_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `users` (
  `id` binary(16) NOT NULL,
  `username` varchar(40) NOT NULL,
  `slug` varchar(40) NOT NULL,
  `display_name` varchar(140) NOT NULL,
  `avatar_url` varchar(2048) NOT NULL,
  `created_at` bigint NOT NULL,
  `account_created_at` bigint NULL,
  `deleted_at` bigint NULL,
  `rights_version` bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `user_slug` (`slug`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
-- The user who replaces deleted users: see package users.
INSERT IGNORE INTO `users` (`id`, `username`, `slug`, `display_name`, `avatar_url`, `created_at`, `deleted_at`) VALUES (X'5E1F8A0C93D74B6EA4C2D07B3E9F6185', '~deleted', '~deleted', 'Deleted user', '', 0, 0);

CREATE TABLE IF NOT EXISTS `vods` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `title` varchar(140) NOT NULL,
  `view_count` bigint NOT NULL,
  `duration` bigint NOT NULL,
  `preview_img_url` varchar(2048) NOT NULL,
  `started_at` bigint NOT NULL,
  `ended_at` bigint NOT NULL,
  `category_id` bigint NOT NULL,
  PRIMARY KEY (`id`),
  INDEX `vod_channel_id_started_at_id` (`channel_id`, `started_at`, `id`),
  INDEX `vod_channel_id_view_count_id` (`channel_id`, `view_count`, `id`),
  INDEX `vod_category_id` (`category_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `votes` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `epoch` bigint NOT NULL,
  `username` varchar(40) NOT NULL,
  `address` varchar(140) NOT NULL,
  `amount` bigint NOT NULL,
  `voted_at` bigint NOT NULL,
  `user_id` binary(16) NULL,
  PRIMARY KEY (`id`),
  INDEX `vote_channel_id_voted_at_id` (`channel_id`, `voted_at`, `id`),
  INDEX `vote_channel_id_epoch_voted_at_id` (`channel_id`, `epoch`, `voted_at`, `id`),
  INDEX `vote_username` (`username`),
  INDEX `vote_user_id` (`user_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `webhook_deliveries` (
  `id` binary(16) NOT NULL,
  `webhook_id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `event_id` binary(16) NOT NULL,
  `position` bigint NOT NULL,
  `type` varchar(64) NOT NULL,
  `status` varchar(16) NOT NULL,
  `is_repeat` bool NOT NULL DEFAULT false,
  `attempts` int NOT NULL DEFAULT 0,
  `last_status` int NULL,
  `last_error` varchar(255) NOT NULL DEFAULT '',
  `first_attempt_at` bigint NULL,
  `next_attempt_at` bigint NOT NULL,
  `finished_at` bigint NULL,
  `tries` int NOT NULL DEFAULT 0,
  `delivered_at` bigint NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `webhookdelivery_webhook_id_position` (`webhook_id`, `position`),
  INDEX `webhookdelivery_webhook_id_status_position` (`webhook_id`, `status`, `position`),
  INDEX `webhookdelivery_finished_at` (`finished_at`),
  INDEX `webhookdelivery_channel_id` (`channel_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS `webhooks` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NULL,
  `user_id` binary(16) NULL,
  `client_id` varchar(64) NOT NULL,
  `url` varchar(2048) NOT NULL,
  `types` varchar(2048) NOT NULL,
  `secret` varchar(64) NOT NULL,
  `former_secret` varchar(64) NOT NULL DEFAULT '',
  `former_until` bigint NULL,
  `created_at` bigint NOT NULL,
  `disabled_reason` varchar(16) NOT NULL DEFAULT '',
  `last_success_at` bigint NULL,
  `last_error` varchar(255) NOT NULL DEFAULT '',
  `position` bigint NOT NULL,
  `next_at` bigint NULL,
  `is_claimed` bool NOT NULL DEFAULT false,
  `is_blocked` bool NOT NULL DEFAULT false,
  `epoch` bigint NOT NULL DEFAULT 0,
  `paused_until` bigint NULL,
  `heard_from` bigint NULL,
  `is_slow` bool NOT NULL DEFAULT false,
  `audience` varchar(16) NOT NULL DEFAULT 'moderators',
  `holder` varchar(16) NOT NULL DEFAULT '',
  PRIMARY KEY (`id`),
  INDEX `webhook_channel_id` (`channel_id`),
  INDEX `webhook_user_id` (`user_id`),
  INDEX `webhook_next_at` (`next_at`),
  INDEX `webhook_disabled_reason` (`disabled_reason`),
  INDEX `webhook_client_id_holder` (`client_id`, `holder`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
