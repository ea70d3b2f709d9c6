-- +goose Up
CREATE TABLE `channel_counts` (
  `id` integer NOT NULL,
  `count` integer NOT NULL,
  PRIMARY KEY (`id`)
);
