-- +goose Up
-- The second step of a sign-in: codes of an app (secret sealed, see
-- access.Vault), recovery codes (hashed, each once), and the sign-ins that
-- wait between the two steps.

CREATE TABLE IF NOT EXISTS second_steps (
    user_id      INTEGER NOT NULL PRIMARY KEY,
    secret       TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    confirmed_at INTEGER,
    last_step    INTEGER NOT NULL DEFAULT 0,
    used_at      INTEGER
);

CREATE TABLE IF NOT EXISTS recovery_codes (
    user_id   INTEGER NOT NULL,
    code_hash TEXT    NOT NULL,
    used_at   INTEGER,
    PRIMARY KEY (user_id, code_hash)
);

CREATE TABLE IF NOT EXISTS half_sign_ins (
    id_hash    TEXT    NOT NULL PRIMARY KEY,
    user_id    INTEGER NOT NULL,
    epoch      INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS half_sign_ins_expires ON half_sign_ins (expires_at);
