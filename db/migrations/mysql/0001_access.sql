-- +goose Up
-- Who may do what. MySQL commits every DDL statement by itself, so each
-- statement of these files can be run again after a crash: IF NOT EXISTS.
-- ids, codes and states are utf8mb4_bin: compared byte by byte. They hold ASCII,
-- but in an ascii column a look-up with any other character is error 1267
-- instead of no row. Hashes, which we compute, are ascii. Text people write has
-- a collation without case that MySQL 8 and MariaDB share.

CREATE TABLE IF NOT EXISTS teams (
    id          BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
    code        VARCHAR(64)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    name        VARCHAR(200) NOT NULL,
    created_at  BIGINT       NOT NULL,
    UNIQUE KEY teams_code (code)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

-- login is stored in lower case, so the unique key is case-insensitive.
-- epoch ends every session of the person when it is raised.
CREATE TABLE IF NOT EXISTS users (
    id            BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
    login         VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    name          VARCHAR(200) NOT NULL DEFAULT '',
    email         VARCHAR(254) NOT NULL DEFAULT '',
    password_hash VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    admin         TINYINT(1)   NOT NULL DEFAULT 0,
    auditor       TINYINT(1)   NOT NULL DEFAULT 0,
    disabled      TINYINT(1)   NOT NULL DEFAULT 0,
    language      VARCHAR(16)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    zone          VARCHAR(64)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    theme         VARCHAR(16)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    epoch         INT          NOT NULL DEFAULT 0,
    created_at    BIGINT       NOT NULL,
    last_login_at BIGINT       NULL,
    UNIQUE KEY users_login (login)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

CREATE TABLE IF NOT EXISTS memberships (
    team_id BIGINT      NOT NULL,
    user_id BIGINT      NOT NULL,
    role    VARCHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    PRIMARY KEY (team_id, user_id),
    KEY memberships_user (user_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

CREATE TABLE IF NOT EXISTS sessions (
    id_hash    CHAR(64)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
    user_id    BIGINT       NOT NULL,
    epoch      INT          NOT NULL DEFAULT 0,
    created_at BIGINT       NOT NULL,
    seen_at    BIGINT       NOT NULL,
    expires_at BIGINT       NOT NULL,
    address    VARCHAR(64)  NOT NULL DEFAULT '',
    agent      VARCHAR(255) NOT NULL DEFAULT '',
    KEY sessions_user (user_id),
    KEY sessions_expires (expires_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

CREATE TABLE IF NOT EXISTS api_tokens (
    id           BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
    team_id      BIGINT       NOT NULL,
    name         VARCHAR(200) NOT NULL,
    role         VARCHAR(16)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    prefix       VARCHAR(16)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    hash         CHAR(64)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    last4        VARCHAR(4)   CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    created_by   VARCHAR(100) NOT NULL DEFAULT '',
    created_at   BIGINT       NOT NULL,
    expires_at   BIGINT       NULL,
    last_used_at BIGINT       NULL,
    revoked_at   BIGINT       NULL,
    UNIQUE KEY api_tokens_hash (hash),
    KEY api_tokens_team (team_id, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

CREATE TABLE IF NOT EXISTS settings (
    name  VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY,
    value MEDIUMTEXT   NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

CREATE TABLE IF NOT EXISTS audit_log (
    id          BIGINT        NOT NULL AUTO_INCREMENT PRIMARY KEY,
    at          BIGINT        NOT NULL,
    actor_kind  VARCHAR(16)   CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    actor_id    VARCHAR(64)   CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    actor_name  VARCHAR(200)  NOT NULL DEFAULT '',
    address     VARCHAR(64)   NOT NULL DEFAULT '',
    action      VARCHAR(64)   CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    object_kind VARCHAR(32)   CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    object_id   VARCHAR(100)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    object_name VARCHAR(200)  NOT NULL DEFAULT '',
    team_id     BIGINT        NULL,
    diff        LONGTEXT      NULL,
    reason      VARCHAR(1000) NOT NULL DEFAULT '',
    request_id  VARCHAR(64)   CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    KEY audit_log_at (at),
    KEY audit_log_team (team_id, id),
    KEY audit_log_object (object_kind, object_id, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

-- scope is who asked (token or person), name the Idempotency-Key they sent.
CREATE TABLE IF NOT EXISTS idempotency_keys (
    scope        VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    name         VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    request_hash CHAR(64)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    status       INT          NOT NULL DEFAULT 0,
    body         MEDIUMTEXT   NULL,
    created_at   BIGINT       NOT NULL,
    PRIMARY KEY (scope, name),
    KEY idempotency_keys_created (created_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
