-- +goose Up
CREATE TABLE `chat_servers` (
  `id` blob NOT NULL,
  `listens_until` integer NOT NULL,
  `sequence` integer NOT NULL,
  `expires_at` integer NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE INDEX `chatserver_expires_at` ON `chat_servers` (`expires_at`);
