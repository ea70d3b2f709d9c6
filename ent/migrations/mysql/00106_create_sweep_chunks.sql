-- +goose Up
CREATE TABLE `sweep_chunks` (
  `id` binary(16) NOT NULL,
  `sweep_id` binary(32) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `number` bigint NOT NULL,
  `user_ids` blob NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `sweepchunk_sweep_id_number` (`sweep_id`, `number`),
  INDEX `sweepchunk_channel_id` (`channel_id`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
