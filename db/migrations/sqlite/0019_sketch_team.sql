-- +goose Up
-- The sketches of a minute over all tasks of a team, and (team_id 0) of all
-- teams: what a page asks of a busy installation must not read a row per task.
-- Each is of its minute's rows in sketch_minute, made in the same transaction.

CREATE TABLE IF NOT EXISTS sketch_team (
    team_id   INTEGER NOT NULL,
    minute_at INTEGER NOT NULL,
    kind      TEXT    NOT NULL,
    n         INTEGER NOT NULL,
    sketch    BLOB    NOT NULL,
    PRIMARY KEY (team_id, minute_at, kind)
);
CREATE INDEX IF NOT EXISTS sketch_team_minute ON sketch_team (minute_at);
