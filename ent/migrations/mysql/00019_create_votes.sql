-- +goose Up
CREATE TABLE `votes` (
  `id` binary(16) NOT NULL,
  `channel_id` binary(16) NOT NULL,
  `epoch` bigint NOT NULL,
  `username` varchar(40) NOT NULL,
  `address` varchar(140) NOT NULL,
  `amount` bigint NOT NULL,
  `voted_at` bigint NOT NULL,
  PRIMARY KEY (`id`),
  INDEX `vote_channel_id_voted_at_id` (`channel_id`, `voted_at`, `id`),
  INDEX `vote_channel_id_epoch_voted_at_id` (`channel_id`, `epoch`, `voted_at`, `id`),
  INDEX `vote_username` (`username`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
