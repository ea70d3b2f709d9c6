-- +goose Up
INSERT INTO `channel_counts` (`id`, `count`) SELECT 2 * `category_id`, COUNT(*) FROM `channels` GROUP BY `category_id`;
