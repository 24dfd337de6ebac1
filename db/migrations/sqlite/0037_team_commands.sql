-- +goose Up
-- Teams whose tasks may run commands of nodes that allow it.

CREATE TABLE IF NOT EXISTS command_teams (
    team_id INTEGER NOT NULL PRIMARY KEY
);
