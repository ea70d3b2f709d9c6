-- +goose Up
CREATE TABLE `chat_batches` (
  `id` binary(16) NOT NULL,
  `server_id` binary(16) NOT NULL,
  `sequence` bigint NOT NULL,
  `created_at` bigint NOT NULL,
  `messages` mediumblob NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE INDEX `chatbatch_server_id_sequence` (`server_id`, `sequence`),
  INDEX `chatbatch_created_at` (`created_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
