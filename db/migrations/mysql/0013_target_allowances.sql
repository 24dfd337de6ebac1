-- +goose Up
-- Ranges inside the network that tasks of a team may call, each opened by an
-- administrator. Public addresses need none.

CREATE TABLE IF NOT EXISTS target_allowances (
    id         BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
    team_id    BIGINT       NOT NULL,
    prefix     VARCHAR(64)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    reason     VARCHAR(200) NOT NULL,
    created_by VARCHAR(100) NOT NULL,
    created_at BIGINT       NOT NULL,
    UNIQUE KEY target_allowances_prefix (team_id, prefix)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
