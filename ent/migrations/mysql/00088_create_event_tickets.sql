-- +goose Up
CREATE TABLE `event_tickets` (
  `id` binary(32) NOT NULL,
  `token_id` binary(32) NOT NULL,
  `user_id` binary(16) NULL,
  `expires_at` bigint NOT NULL,
  `redeemed_by` binary(16) NULL,
  PRIMARY KEY (`id`),
  INDEX `eventticket_user_id` (`user_id`),
  INDEX `eventticket_expires_at` (`expires_at`)
) ENGINE InnoDB CHARSET utf8mb4 COLLATE utf8mb4_bin;
