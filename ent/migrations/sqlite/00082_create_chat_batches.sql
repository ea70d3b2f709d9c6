-- +goose Up
CREATE TABLE `chat_batches` (
  `id` blob NOT NULL,
  `server_id` blob NOT NULL,
  `sequence` integer NOT NULL,
  `created_at` integer NOT NULL,
  `messages` blob NOT NULL,
  PRIMARY KEY (`id`)
);
CREATE UNIQUE INDEX `chatbatch_server_id_sequence` ON `chat_batches` (`server_id`, `sequence`);
CREATE INDEX `chatbatch_created_at` ON `chat_batches` (`created_at`);
