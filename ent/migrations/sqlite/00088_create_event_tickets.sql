-- +goose Up
CREATE TABLE `event_tickets` (`id` blob NOT NULL, `token_id` blob NOT NULL, `user_id` blob NULL, `expires_at` integer NOT NULL, `redeemed_by` blob NULL, PRIMARY KEY (`id`));
CREATE INDEX `eventticket_user_id` ON `event_tickets` (`user_id`);
CREATE INDEX `eventticket_expires_at` ON `event_tickets` (`expires_at`);
