-- +goose Up
-- Whether tasks of a team may run commands of nodes that allow it.

ALTER TABLE teams ADD COLUMN commands INTEGER NOT NULL DEFAULT 0;
