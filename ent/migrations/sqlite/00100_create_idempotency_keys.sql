-- +goose Up
CREATE TABLE `idempotency_keys` (`id` blob NOT NULL, `user_id` blob NULL, `request` blob NOT NULL, `response` blob NOT NULL, `created_at` integer NOT NULL, PRIMARY KEY (`id`));
CREATE INDEX `idempotencykey_user_id` ON `idempotency_keys` (`user_id`);
CREATE INDEX `idempotencykey_created_at` ON `idempotency_keys` (`created_at`);
