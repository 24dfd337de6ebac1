-- +goose Up
-- Who may do what. The same tables, columns and keys as mysql/0001: a test
-- compares them. Names sort without case, as they do on MySQL.

CREATE TABLE IF NOT EXISTS teams (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    code       TEXT    NOT NULL,
    name       TEXT    NOT NULL COLLATE NOCASE,
    created_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS teams_code ON teams (code);

-- login is stored in lower case, so the unique key is case-insensitive.
-- epoch ends every session of the person when it is raised.
CREATE TABLE IF NOT EXISTS users (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    login         TEXT    NOT NULL,
    name          TEXT    NOT NULL COLLATE NOCASE DEFAULT '',
    email         TEXT    NOT NULL DEFAULT '',
    password_hash TEXT    NOT NULL DEFAULT '',
    admin         INTEGER NOT NULL DEFAULT 0,
    auditor       INTEGER NOT NULL DEFAULT 0,
    disabled      INTEGER NOT NULL DEFAULT 0,
    language      TEXT    NOT NULL DEFAULT '',
    zone          TEXT    NOT NULL DEFAULT '',
    theme         TEXT    NOT NULL DEFAULT '',
    epoch         INTEGER NOT NULL DEFAULT 0,
    created_at    INTEGER NOT NULL,
    last_login_at INTEGER NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS users_login ON users (login);

CREATE TABLE IF NOT EXISTS memberships (
    team_id INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    role    TEXT    NOT NULL,
    PRIMARY KEY (team_id, user_id)
);
CREATE INDEX IF NOT EXISTS memberships_user ON memberships (user_id);

CREATE TABLE IF NOT EXISTS sessions (
    id_hash    TEXT    NOT NULL PRIMARY KEY,
    user_id    INTEGER NOT NULL,
    epoch      INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    address    TEXT    NOT NULL DEFAULT '',
    agent      TEXT    NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS sessions_user ON sessions (user_id);
CREATE INDEX IF NOT EXISTS sessions_expires ON sessions (expires_at);

CREATE TABLE IF NOT EXISTS api_tokens (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    team_id      INTEGER NOT NULL,
    name         TEXT    NOT NULL,
    role         TEXT    NOT NULL,
    prefix       TEXT    NOT NULL DEFAULT '',
    hash         TEXT    NOT NULL,
    last4        TEXT    NOT NULL DEFAULT '',
    created_by   TEXT    NOT NULL DEFAULT '',
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NULL,
    last_used_at INTEGER NULL,
    revoked_at   INTEGER NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS api_tokens_hash ON api_tokens (hash);
CREATE INDEX IF NOT EXISTS api_tokens_team ON api_tokens (team_id, id);

CREATE TABLE IF NOT EXISTS settings (
    name  TEXT    NOT NULL PRIMARY KEY,
    value TEXT    NOT NULL
);

CREATE TABLE IF NOT EXISTS audit_log (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    at          INTEGER NOT NULL,
    actor_kind  TEXT    NOT NULL,
    actor_id    TEXT    NOT NULL DEFAULT '',
    actor_name  TEXT    NOT NULL DEFAULT '',
    address     TEXT    NOT NULL DEFAULT '',
    action      TEXT    NOT NULL,
    object_kind TEXT    NOT NULL DEFAULT '',
    object_id   TEXT    NOT NULL DEFAULT '',
    object_name TEXT    NOT NULL DEFAULT '',
    team_id     INTEGER NULL,
    diff        TEXT    NULL,
    reason      TEXT    NOT NULL DEFAULT '',
    request_id  TEXT    NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS audit_log_at ON audit_log (at);
CREATE INDEX IF NOT EXISTS audit_log_team ON audit_log (team_id, id);
CREATE INDEX IF NOT EXISTS audit_log_object ON audit_log (object_kind, object_id, id);

-- scope is who asked (token or person), name the Idempotency-Key they sent.
CREATE TABLE IF NOT EXISTS idempotency_keys (
    scope        TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    request_hash TEXT    NOT NULL,
    status       INTEGER NOT NULL DEFAULT 0,
    body         TEXT    NULL,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (scope, name)
);
CREATE INDEX IF NOT EXISTS idempotency_keys_created ON idempotency_keys (created_at);
