-- +goose Up
-- What ended in an hour, per task and state: the sum of its minutes, which are
-- kept for some days only. Whole hours are replaced by the roll-up.

CREATE TABLE IF NOT EXISTS stats_hour (
    task_id INTEGER NOT NULL,
    hour_at INTEGER NOT NULL,
    state   TEXT    NOT NULL,
    team_id INTEGER NOT NULL,
    n       INTEGER NOT NULL,
    PRIMARY KEY (task_id, hour_at, state)
);
CREATE INDEX IF NOT EXISTS stats_hour_hour ON stats_hour (hour_at);
CREATE INDEX IF NOT EXISTS stats_hour_team ON stats_hour (team_id, hour_at);
