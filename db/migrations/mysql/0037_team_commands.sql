-- +goose Up
-- Whether tasks of a team may run commands of nodes that allow it.

ALTER TABLE teams ADD COLUMN commands TINYINT(1) NOT NULL DEFAULT 0;
