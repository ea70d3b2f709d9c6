-- +goose Up
CREATE TABLE `sweeps` (`id` blob NOT NULL, `channel_id` blob NOT NULL, `user_id` blob NOT NULL, `phrase` text NOT NULL DEFAULT (''), `pattern` text NOT NULL DEFAULT (''), `exempt_follow_age` integer NOT NULL, `exempt_subscribers` bool NOT NULL, `expires_at` integer NOT NULL, `batch_id` blob NULL, `moderator_id` blob NULL, `client_id` text NOT NULL DEFAULT (''), `reason` text NOT NULL DEFAULT (''), `bans_expire_at` integer NULL, `afterglow_until` integer NULL, `banned_count` integer NOT NULL DEFAULT (0), `already_banned_count` integer NOT NULL DEFAULT (0), `not_found_count` integer NOT NULL DEFAULT (0), `due_at` integer NULL, `remove_at` integer NULL, PRIMARY KEY (`id`));
CREATE INDEX `sweep_due_at` ON `sweeps` (`due_at`);
CREATE INDEX `sweep_afterglow_until` ON `sweeps` (`afterglow_until`);
CREATE INDEX `sweep_remove_at` ON `sweeps` (`remove_at`);
CREATE INDEX `sweep_batch_id` ON `sweeps` (`batch_id`);
CREATE INDEX `sweep_channel_id` ON `sweeps` (`channel_id`);
CREATE INDEX `sweep_user_id` ON `sweeps` (`user_id`);
CREATE INDEX `sweep_moderator_id` ON `sweeps` (`moderator_id`);
