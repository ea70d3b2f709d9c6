-- +goose Up
CREATE TABLE `standing_subscribers` (
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
