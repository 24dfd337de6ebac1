-- +goose Up
-- One-time links: into a team (kind team), or to a new password of user_id
-- (kind password). by_user is who answers for it; 0 is the command line.

CREATE TABLE IF NOT EXISTS invitations (
    id           BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
    kind         VARCHAR(16)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    hash         CHAR(64)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    team_id      BIGINT       NOT NULL DEFAULT 0,
    role         VARCHAR(16)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    meant_for    VARCHAR(200) NOT NULL DEFAULT '',
    user_id      BIGINT       NOT NULL DEFAULT 0,
    by_user      BIGINT       NOT NULL DEFAULT 0,
    created_by   VARCHAR(100) NOT NULL DEFAULT '',
    created_at   BIGINT       NOT NULL,
    expires_at   BIGINT       NOT NULL,
    used_at      BIGINT       NULL,
    withdrawn_at BIGINT       NULL,
    UNIQUE KEY invitations_hash (hash),
    KEY invitations_team (team_id, id),
    KEY invitations_user (user_id, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
