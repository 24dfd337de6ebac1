-- +goose Up
-- The sketches of a minute over all tasks of a team, and (team_id 0) of all
-- teams: what a page asks of a busy installation must not read a row per task.
-- Each is of its minute's rows in sketch_minute, made in the same transaction.

CREATE TABLE IF NOT EXISTS sketch_team (
    team_id   BIGINT     NOT NULL,
    minute_at BIGINT     NOT NULL,
    kind      VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    n         INT        NOT NULL,
    sketch    BLOB       NOT NULL,
    PRIMARY KEY (team_id, minute_at, kind),
    KEY sketch_team_minute (minute_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
