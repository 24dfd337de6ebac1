-- +goose Up
-- What ended in an hour, per task and state: the sum of its minutes, which are
-- kept for some days only. Whole hours are replaced by the roll-up.

CREATE TABLE IF NOT EXISTS stats_hour (
    task_id BIGINT      NOT NULL,
    hour_at BIGINT      NOT NULL,
    state   VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    team_id BIGINT      NOT NULL,
    n       INT         NOT NULL,
    PRIMARY KEY (task_id, hour_at, state),
    KEY stats_hour_hour (hour_at),
    KEY stats_hour_team (team_id, hour_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
