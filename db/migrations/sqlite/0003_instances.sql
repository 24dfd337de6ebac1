-- +goose Up
-- No foreign keys here: each would take a shared lock on the task's row,
-- which the planner holds.

CREATE TABLE IF NOT EXISTS instances (
    id               TEXT    NOT NULL PRIMARY KEY,
    task_id          INTEGER NOT NULL,
    team_id          INTEGER NOT NULL,
    queue            TEXT    NOT NULL,
    biz_id           TEXT    NOT NULL,
    replay           INTEGER NOT NULL DEFAULT 0,
    replay_of        TEXT    NULL,
    origin           TEXT    NOT NULL,
    requested_by     TEXT    NOT NULL DEFAULT '',
    payload          TEXT    NULL,
    slot_at          INTEGER NULL,
    wanted_at        INTEGER NOT NULL,
    due_at           INTEGER NOT NULL,
    look_at          INTEGER NULL,
    resends          INTEGER NOT NULL DEFAULT 0,
    defers           INTEGER NOT NULL DEFAULT 0,
    state            TEXT    NOT NULL,
    dispatch         INTEGER NOT NULL DEFAULT 0,
    attempt          INTEGER NOT NULL DEFAULT 0,
    retries          INTEGER NOT NULL DEFAULT 0,
    deaths           INTEGER NOT NULL DEFAULT 0,
    node_id          TEXT    NULL,
    claim_id         TEXT    NULL,
    sent_at          INTEGER NULL,
    cancel_wanted    INTEGER NULL,
    receipt_deadline INTEGER NULL,
    deadline_at      INTEGER NULL,
    planned_by       TEXT    NOT NULL DEFAULT '',
    error            TEXT    NOT NULL DEFAULT '',
    reason           TEXT    NOT NULL DEFAULT '',
    created_at       INTEGER NOT NULL,
    queued_at        INTEGER NULL,
    started_at       INTEGER NULL,
    finished_at      INTEGER NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS instances_biz ON instances (task_id, biz_id, replay);
CREATE INDEX IF NOT EXISTS instances_state_due ON instances (state, due_at);
CREATE INDEX IF NOT EXISTS instances_state_look ON instances (state, look_at);
CREATE INDEX IF NOT EXISTS instances_task_state ON instances (task_id, state, attempt, wanted_at);
CREATE INDEX IF NOT EXISTS instances_node ON instances (node_id, state);
CREATE INDEX IF NOT EXISTS instances_state_receipt ON instances (state, receipt_deadline);
CREATE INDEX IF NOT EXISTS instances_finished ON instances (finished_at);
CREATE INDEX IF NOT EXISTS instances_task ON instances (task_id, id);
CREATE INDEX IF NOT EXISTS instances_team_state ON instances (team_id, state, id);

CREATE TABLE IF NOT EXISTS attempts (
    instance_id    TEXT    NOT NULL,
    no             INTEGER NOT NULL,
    task_id        INTEGER NOT NULL,
    team_id        INTEGER NOT NULL,
    task_version   INTEGER NOT NULL,
    node_id        TEXT    NULL,
    claim_id       TEXT    NULL,
    executor       TEXT    NOT NULL DEFAULT '',
    started_at     INTEGER NOT NULL,
    sent_at        INTEGER NULL,
    ended_at       INTEGER NULL,
    outcome        TEXT    NULL,
    status_code    INTEGER NOT NULL DEFAULT 0,
    error          TEXT    NOT NULL DEFAULT '',
    fingerprint    TEXT    NOT NULL DEFAULT '',
    request        TEXT    NULL,
    response       TEXT    NULL,
    response_bytes INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (instance_id, no)
);
CREATE INDEX IF NOT EXISTS attempts_task_ended ON attempts (task_id, ended_at);
CREATE INDEX IF NOT EXISTS attempts_ended ON attempts (ended_at);
CREATE INDEX IF NOT EXISTS attempts_fingerprint ON attempts (fingerprint, ended_at);

-- Only what columns can't tell: re-sent, lost, refused receipt, canceled by whom.
CREATE TABLE IF NOT EXISTS instance_events (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    instance_id TEXT    NOT NULL,
    at          INTEGER NOT NULL,
    kind        TEXT    NOT NULL,
    node_id     TEXT    NULL,
    actor       TEXT    NOT NULL DEFAULT '',
    detail      TEXT    NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS instance_events_instance ON instance_events (instance_id, id);
CREATE INDEX IF NOT EXISTS instance_events_at ON instance_events (at);

CREATE TABLE IF NOT EXISTS receipts (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    instance_id TEXT    NOT NULL,
    attempt     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    outcome     TEXT    NOT NULL,
    message     TEXT    NOT NULL DEFAULT '',
    address     TEXT    NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS receipts_instance ON receipts (instance_id, id);
CREATE INDEX IF NOT EXISTS receipts_at ON receipts (at);

CREATE TABLE IF NOT EXISTS dead_letters (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id     INTEGER NOT NULL,
    team_id     INTEGER NOT NULL,
    biz_id      TEXT    NOT NULL,
    instance_id TEXT    NOT NULL,
    replay      INTEGER NOT NULL DEFAULT 0,
    replaying   TEXT    NULL,
    status      TEXT    NOT NULL,
    outcome     TEXT    NOT NULL,
    error       TEXT    NOT NULL DEFAULT '',
    fingerprint TEXT    NOT NULL DEFAULT '',
    cause       TEXT    NOT NULL DEFAULT '',
    solution    TEXT    NULL,
    assignee_id INTEGER NULL,
    opens       INTEGER NOT NULL DEFAULT 1,
    opened_at   INTEGER NOT NULL,
    closed_at   INTEGER NULL,
    closed_by   TEXT    NOT NULL DEFAULT '',
    version     INTEGER NOT NULL DEFAULT 1
);
CREATE UNIQUE INDEX IF NOT EXISTS dead_letters_biz ON dead_letters (task_id, biz_id);
CREATE INDEX IF NOT EXISTS dead_letters_team_status ON dead_letters (team_id, status, id);
CREATE INDEX IF NOT EXISTS dead_letters_fingerprint ON dead_letters (fingerprint, id);
