-- +goose Up
-- Tasks that need labels of a node, with the queue that they are in.

CREATE TABLE IF NOT EXISTS task_lanes (
    task_id INTEGER NOT NULL PRIMARY KEY,
    queue   TEXT    NOT NULL,
    labels  TEXT    NOT NULL
);
