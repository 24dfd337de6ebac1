-- +goose Up
-- team_id 0: of the whole installation.

CREATE TABLE IF NOT EXISTS calendars (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    team_id    INTEGER NOT NULL DEFAULT 0,
    code       TEXT    NOT NULL,
    name       TEXT    NOT NULL DEFAULT '',
    week       INTEGER NOT NULL,
    version    INTEGER NOT NULL DEFAULT 1,
    created_at INTEGER NOT NULL,
    created_by TEXT    NOT NULL DEFAULT '',
    updated_at INTEGER NOT NULL,
    updated_by TEXT    NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX IF NOT EXISTS calendars_code ON calendars (code);
CREATE INDEX IF NOT EXISTS calendars_team ON calendars (team_id, id);

-- Days that differ from the calendar's week; day counts from 1970-01-01.
CREATE TABLE IF NOT EXISTS calendar_days (
    calendar_id INTEGER NOT NULL,
    day         INTEGER NOT NULL,
    work        INTEGER NOT NULL,
    name        TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (calendar_id, day)
);

-- Which tasks go by a calendar: what their definition says, kept beside it
-- because no index reaches into it.
CREATE TABLE IF NOT EXISTS calendar_tasks (
    code    TEXT    NOT NULL,
    task_id INTEGER NOT NULL PRIMARY KEY
);
CREATE INDEX IF NOT EXISTS calendar_tasks_code ON calendar_tasks (code, task_id);
