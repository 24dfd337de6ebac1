-- +goose Up
-- Message brokers that tasks of a team publish to. sealed is the account, which
-- only ax can read; places are what tasks may publish to, one on each line.

CREATE TABLE IF NOT EXISTS brokers (
    id         CHAR(32)     CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY,
    team_id    BIGINT       NOT NULL,
    name       VARCHAR(64)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    kind       VARCHAR(16)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    address    VARCHAR(800) NOT NULL,
    tls        TINYINT(1)   NOT NULL,
    places     MEDIUMTEXT   NOT NULL,
    sealed     TEXT         NOT NULL,
    created_by VARCHAR(100) NOT NULL,
    created_at BIGINT       NOT NULL,
    changed_by VARCHAR(100) NOT NULL,
    changed_at BIGINT       NOT NULL,
    UNIQUE KEY brokers_name (team_id, name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
