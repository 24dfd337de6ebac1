-- +goose Up
-- One-time links: into a team (kind team), or to a new password of user_id
-- (kind password). by_user is who answers for it; 0 is the command line.

CREATE TABLE IF NOT EXISTS invitations (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    kind         TEXT    NOT NULL,
    hash         TEXT    NOT NULL,
    team_id      INTEGER NOT NULL DEFAULT 0,
    role         TEXT    NOT NULL DEFAULT '',
    meant_for    TEXT    NOT NULL DEFAULT '',
    user_id      INTEGER NOT NULL DEFAULT 0,
    by_user      INTEGER NOT NULL DEFAULT 0,
    created_by   TEXT    NOT NULL DEFAULT '',
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    used_at      INTEGER NULL,
    withdrawn_at INTEGER NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS invitations_hash ON invitations (hash);
CREATE INDEX IF NOT EXISTS invitations_team ON invitations (team_id, id);
CREATE INDEX IF NOT EXISTS invitations_user ON invitations (user_id, id);
