-- +goose Up
ALTER TABLE `webhooks` ADD INDEX `webhook_client_id_holder` (`client_id`, `holder`);
