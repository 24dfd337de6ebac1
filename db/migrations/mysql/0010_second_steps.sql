-- +goose Up
-- The second step of a sign-in: codes of an app (secret sealed, see
-- access.Vault), recovery codes (hashed, each once), and the sign-ins that
-- wait between the two steps.

CREATE TABLE IF NOT EXISTS second_steps (
    user_id      BIGINT       NOT NULL PRIMARY KEY,
    secret       VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    created_at   BIGINT       NOT NULL,
    confirmed_at BIGINT       NULL,
    last_step    BIGINT       NOT NULL DEFAULT 0,
    used_at      BIGINT       NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

CREATE TABLE IF NOT EXISTS recovery_codes (
    user_id   BIGINT   NOT NULL,
    code_hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    used_at   BIGINT   NULL,
    PRIMARY KEY (user_id, code_hash)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

CREATE TABLE IF NOT EXISTS half_sign_ins (
    id_hash    CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
    user_id    BIGINT   NOT NULL,
    epoch      INT      NOT NULL DEFAULT 0,
    created_at BIGINT   NOT NULL,
    expires_at BIGINT   NOT NULL,
    KEY half_sign_ins_expires (expires_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
