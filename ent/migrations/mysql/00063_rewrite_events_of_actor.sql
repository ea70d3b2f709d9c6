-- +goose Up
UPDATE `events` SET `payload` = REPLACE(REPLACE(`payload`, '00000000-0000-4000-8000-000000000000', '5e1f8a0c-93d7-4b6e-a4c2-d07b3e9f6185'), '"-deleted-"', '"~deleted"') WHERE `actor_id` = X'00000000000040008000000000000000';
