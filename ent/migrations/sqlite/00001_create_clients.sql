-- +goose Up
CREATE TABLE `clients` (
  `id` text NOT NULL,
  `name` text NOT NULL,
  `service` bool NOT NULL,
  `created_at` integer NOT NULL,
  PRIMARY KEY (`id`)
);
