-- +goose Up
-- How long attempts took, by kind ("ok", "bad"), and how late first attempts
-- began ("lag"): of what ended in a minute, and of an hour its minutes merged.
-- sketch is a DDSketch of milliseconds (relative error 1 %); n of them.

CREATE TABLE IF NOT EXISTS sketch_minute (
    task_id   BIGINT     NOT NULL,
    minute_at BIGINT     NOT NULL,
    kind      VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    team_id   BIGINT     NOT NULL,
    n         INT        NOT NULL,
    sketch    BLOB       NOT NULL,
    PRIMARY KEY (task_id, minute_at, kind),
    KEY sketch_minute_minute (minute_at),
    KEY sketch_minute_team (team_id, minute_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

CREATE TABLE IF NOT EXISTS sketch_hour (
    task_id   BIGINT     NOT NULL,
    hour_at   BIGINT     NOT NULL,
    kind      VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    team_id   BIGINT     NOT NULL,
    n         INT        NOT NULL,
    sketch    BLOB       NOT NULL,
    PRIMARY KEY (task_id, hour_at, kind),
    KEY sketch_hour_hour (hour_at),
    KEY sketch_hour_team (team_id, hour_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
