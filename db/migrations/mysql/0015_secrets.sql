-- +goose Up
-- Values that tasks of a team send along. sealed is readable by ax alone; the
-- hosts, apart by spaces, are those whose calls get it.

CREATE TABLE IF NOT EXISTS secrets (
    id         CHAR(32)      CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY,
    team_id    BIGINT        NOT NULL,
    name       VARCHAR(64)   CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    hosts      VARCHAR(2500) NOT NULL,
    sealed     TEXT          NOT NULL,
    created_by VARCHAR(100)  NOT NULL,
    created_at BIGINT        NOT NULL,
    changed_by VARCHAR(100)  NOT NULL,
    changed_at BIGINT        NOT NULL,
    UNIQUE KEY secrets_name (team_id, name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
