-- +goose Up
CREATE TABLE `channels` (
  `id` blob NOT NULL,
  `title` text NOT NULL,
  `bio` text NOT NULL,
  `lang` text NOT NULL,
  `category_id` integer NOT NULL DEFAULT (0),
  `event_sequence` integer NOT NULL DEFAULT (0),
  `created_at` integer NOT NULL,
  PRIMARY KEY (`id`)
);
