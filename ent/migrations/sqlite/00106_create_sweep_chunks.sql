-- +goose Up
CREATE TABLE `sweep_chunks` (`id` blob NOT NULL, `sweep_id` blob NOT NULL, `channel_id` blob NOT NULL, `number` integer NOT NULL, `user_ids` blob NOT NULL, PRIMARY KEY (`id`));
CREATE UNIQUE INDEX `sweepchunk_sweep_id_number` ON `sweep_chunks` (`sweep_id`, `number`);
CREATE INDEX `sweepchunk_channel_id` ON `sweep_chunks` (`channel_id`);
