-- +goose Up
-- Ranges inside the network that tasks of a team may call, each opened by an
-- administrator. Public addresses need none.

CREATE TABLE IF NOT EXISTS target_allowances (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    team_id    INTEGER NOT NULL,
    prefix     TEXT    NOT NULL,
    reason     TEXT    NOT NULL,
    created_by TEXT    NOT NULL,
    created_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS target_allowances_prefix ON target_allowances (team_id, prefix);
