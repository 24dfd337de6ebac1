-- +goose Up
-- Tasks whose calendar has changed and whose next slot is to be found anew.
-- The row is written with the change and goes with the task's new slot, so that
-- nothing is forgotten when a process dies between.

CREATE TABLE IF NOT EXISTS calendar_replans (
    task_id INTEGER NOT NULL PRIMARY KEY,
    code    TEXT    NOT NULL
);
CREATE INDEX IF NOT EXISTS calendar_replans_code ON calendar_replans (code, task_id);
