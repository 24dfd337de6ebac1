-- +goose Up
-- Values that tasks of a team send along. sealed is readable by ax alone; the
-- hosts, apart by spaces, are those whose calls get it.

CREATE TABLE IF NOT EXISTS secrets (
    id         TEXT    NOT NULL PRIMARY KEY,
    team_id    INTEGER NOT NULL,
    name       TEXT    NOT NULL,
    hosts      TEXT    NOT NULL,
    sealed     TEXT    NOT NULL,
    created_by TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    changed_by TEXT    NOT NULL,
    changed_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS secrets_name ON secrets (team_id, name);
