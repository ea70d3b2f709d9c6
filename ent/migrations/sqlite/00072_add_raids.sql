-- +goose Up
PRAGMA foreign_keys = off;
CREATE TABLE `raids` (`id` blob NOT NULL, `channel_id` blob NOT NULL, `dedup_key` text NOT NULL, `raider_id` blob NOT NULL, `viewer_count` integer NOT NULL, `raided_at` integer NOT NULL, PRIMARY KEY (`id`));
CREATE UNIQUE INDEX `raid_channel_id_dedup_key` ON `raids` (`channel_id`, `dedup_key`);
CREATE INDEX `raid_channel_id_raided_at_id` ON `raids` (`channel_id`, `raided_at`, `id`);
CREATE INDEX `raid_raider_id` ON `raids` (`raider_id`);
PRAGMA foreign_keys = on;
