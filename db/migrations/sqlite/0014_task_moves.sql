-- +goose Up
-- Tasks that were moved to another team, until the rows that belong to them
-- carry its number: instances, attempts, dead letters, missed ranges, figures.
-- step and after_key say how far that is (see FollowMoves).

CREATE TABLE IF NOT EXISTS task_moves (
    task_id   INTEGER NOT NULL PRIMARY KEY,
    team_id   INTEGER NOT NULL,
    moved_at  INTEGER NOT NULL,
    step      INTEGER NOT NULL DEFAULT 0,
    after_key TEXT    NOT NULL DEFAULT ''
);
