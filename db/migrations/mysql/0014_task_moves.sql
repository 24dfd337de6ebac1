-- +goose Up
-- Tasks that were moved to another team, until the rows that belong to them
-- carry its number: instances, attempts, dead letters, missed ranges, figures.
-- step and after_key say how far that is (see FollowMoves).

CREATE TABLE IF NOT EXISTS task_moves (
    task_id   BIGINT      NOT NULL,
    team_id   BIGINT      NOT NULL,
    moved_at  BIGINT      NOT NULL,
    step      INT         NOT NULL DEFAULT 0,
    after_key VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    PRIMARY KEY (task_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
