-- +goose Up
-- team_id 0: of the whole installation.

CREATE TABLE IF NOT EXISTS calendars (
    id         BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
    team_id    BIGINT       NOT NULL DEFAULT 0,
    code       VARCHAR(64)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    name       VARCHAR(200) NOT NULL DEFAULT '',
    week       INT          NOT NULL,
    version    INT          NOT NULL DEFAULT 1,
    created_at BIGINT       NOT NULL,
    created_by VARCHAR(100) NOT NULL DEFAULT '',
    updated_at BIGINT       NOT NULL,
    updated_by VARCHAR(100) NOT NULL DEFAULT '',
    UNIQUE KEY calendars_code (code),
    KEY calendars_team (team_id, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

-- Days that differ from the calendar's week; day counts from 1970-01-01.
CREATE TABLE IF NOT EXISTS calendar_days (
    calendar_id BIGINT       NOT NULL,
    day         INT          NOT NULL,
    work        TINYINT(1)   NOT NULL,
    name        VARCHAR(100) NOT NULL DEFAULT '',
    PRIMARY KEY (calendar_id, day)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

-- Which tasks go by a calendar: what their definition says, kept beside it
-- because no index reaches into it.
CREATE TABLE IF NOT EXISTS calendar_tasks (
    code    VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    task_id BIGINT      NOT NULL,
    PRIMARY KEY (task_id),
    KEY calendar_tasks_code (code, task_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
