-- +goose Up
CREATE TABLE `channel_count_deltas` (
  `id` blob NOT NULL,
  `count_id` integer NOT NULL,
  `delta` integer NOT NULL,
  PRIMARY KEY (`id`)
);
