-- +goose Up
-- Sign-ins through a company's identity provider. identities: who a person is
-- there, found by a hash of issuer and subject, for these are compared byte by
-- byte; admin and auditor are the rights that the provider's groups gave.
-- provided_members marks the memberships that the groups gave: one without a
-- mark was given in ax, and stays. spent_states: answers that were used.

CREATE TABLE IF NOT EXISTS identities (
    id_hash    TEXT    NOT NULL PRIMARY KEY,
    issuer     TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    user_id    INTEGER NOT NULL,
    admin      INTEGER NOT NULL DEFAULT 0,
    auditor    INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS identities_user ON identities (user_id);

CREATE TABLE IF NOT EXISTS provided_members (
    user_id INTEGER NOT NULL,
    team_id INTEGER NOT NULL,
    PRIMARY KEY (user_id, team_id)
);

CREATE TABLE IF NOT EXISTS spent_states (
    state_hash TEXT    NOT NULL PRIMARY KEY,
    expires_at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS spent_states_expires ON spent_states (expires_at);
