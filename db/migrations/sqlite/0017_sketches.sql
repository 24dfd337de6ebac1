-- +goose Up
-- How long attempts took, by kind ("ok", "bad"), and how late first attempts
-- began ("lag"): of what ended in a minute, and of an hour its minutes merged.
-- sketch is a DDSketch of milliseconds (relative error 1 %); n of them.

CREATE TABLE IF NOT EXISTS sketch_minute (
    task_id   INTEGER NOT NULL,
    minute_at INTEGER NOT NULL,
    kind      TEXT    NOT NULL,
    team_id   INTEGER NOT NULL,
    n         INTEGER NOT NULL,
    sketch    BLOB    NOT NULL,
    PRIMARY KEY (task_id, minute_at, kind)
);
CREATE INDEX IF NOT EXISTS sketch_minute_minute ON sketch_minute (minute_at);
CREATE INDEX IF NOT EXISTS sketch_minute_team ON sketch_minute (team_id, minute_at);

CREATE TABLE IF NOT EXISTS sketch_hour (
    task_id   INTEGER NOT NULL,
    hour_at   INTEGER NOT NULL,
    kind      TEXT    NOT NULL,
    team_id   INTEGER NOT NULL,
    n         INTEGER NOT NULL,
    sketch    BLOB    NOT NULL,
    PRIMARY KEY (task_id, hour_at, kind)
);
CREATE INDEX IF NOT EXISTS sketch_hour_hour ON sketch_hour (hour_at);
CREATE INDEX IF NOT EXISTS sketch_hour_team ON sketch_hour (team_id, hour_at);
