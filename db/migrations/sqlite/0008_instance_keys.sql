-- +goose Up
-- look_at and receipt_deadline are set only while a sweep is to look, so that
-- they need no state before them: each move of a state rewrote both keys.

UPDATE instances SET look_at = NULL WHERE look_at IS NOT NULL AND state NOT IN ('pending', 'queued', 'retrying');
DROP INDEX IF EXISTS instances_state_look;
DROP INDEX IF EXISTS instances_state_receipt;
CREATE INDEX IF NOT EXISTS instances_look ON instances (look_at);
CREATE INDEX IF NOT EXISTS instances_receipt ON instances (receipt_deadline);
