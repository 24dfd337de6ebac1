-- +goose Up
-- Message brokers that tasks of a team publish to. sealed is the account, which
-- only ax can read; places are what tasks may publish to, one on each line.

CREATE TABLE IF NOT EXISTS brokers (
    id         TEXT    NOT NULL PRIMARY KEY,
    team_id    INTEGER NOT NULL,
    name       TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    address    TEXT    NOT NULL,
    tls        INTEGER NOT NULL,
    places     TEXT    NOT NULL,
    sealed     TEXT    NOT NULL,
    created_by TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    changed_by TEXT    NOT NULL,
    changed_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS brokers_name ON brokers (team_id, name);
