-- +goose Up
CREATE INDEX `webhook_client_id_holder` ON `webhooks` (`client_id`, `holder`);
