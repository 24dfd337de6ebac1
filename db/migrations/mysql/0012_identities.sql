-- +goose Up
-- Sign-ins through a company's identity provider. identities: who a person is
-- there, found by a hash of issuer and subject, for these are compared byte by
-- byte; admin and auditor are the rights that the provider's groups gave.
-- provided_members marks the memberships that the groups gave: one without a
-- mark was given in ax, and stays. spent_states: answers that were used.

CREATE TABLE IF NOT EXISTS identities (
    id_hash    CHAR(64)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
    issuer     VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    subject    VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    user_id    BIGINT       NOT NULL,
    admin      TINYINT(1)   NOT NULL DEFAULT 0,
    auditor    TINYINT(1)   NOT NULL DEFAULT 0,
    created_at BIGINT       NOT NULL,
    UNIQUE KEY identities_user (user_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

CREATE TABLE IF NOT EXISTS provided_members (
    user_id BIGINT NOT NULL,
    team_id BIGINT NOT NULL,
    PRIMARY KEY (user_id, team_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

CREATE TABLE IF NOT EXISTS spent_states (
    state_hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
    expires_at BIGINT   NOT NULL,
    KEY spent_states_expires (expires_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
