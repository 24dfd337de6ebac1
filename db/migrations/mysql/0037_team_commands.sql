-- +goose Up
-- Teams whose tasks may run commands of nodes that allow it.

CREATE TABLE IF NOT EXISTS command_teams (
    team_id BIGINT NOT NULL PRIMARY KEY
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
