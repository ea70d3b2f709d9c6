-- +goose Up
CREATE TABLE `categories` (
  `id` integer NOT NULL,
  `parent_id` integer NULL,
  `name` text NOT NULL,
  `slug` text NOT NULL,
  `image_url` text NOT NULL,
  PRIMARY KEY (`id`)
);
