-- +goose Up
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
