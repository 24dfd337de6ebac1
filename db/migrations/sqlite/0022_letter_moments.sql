-- +goose Up
-- Webhooks are told what opened and closed of late.

CREATE INDEX IF NOT EXISTS dead_letters_opened ON dead_letters (opened_at);
CREATE INDEX IF NOT EXISTS dead_letters_closed ON dead_letters (closed_at);
