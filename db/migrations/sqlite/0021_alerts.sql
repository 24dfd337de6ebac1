-- +goose Up
-- Alerts: rules, incidents, channels and what was told to whom.

-- Thresholds on metrics. team_id 0: the installation's. broken says why the rule
-- could not be judged at its last turn.
CREATE TABLE IF NOT EXISTS alert_rules (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    team_id     INTEGER NOT NULL,
    name        TEXT NOT NULL,
    metric      TEXT NOT NULL,
    scope_kind  TEXT NOT NULL,
    scope_value TEXT NOT NULL DEFAULT '',
    threshold   REAL NOT NULL,
    window_ms   INTEGER NOT NULL DEFAULT 0,
    least       INTEGER NOT NULL DEFAULT 0,
    for_ms      INTEGER NOT NULL DEFAULT 0,
    level       TEXT NOT NULL,
    each_try    INTEGER NOT NULL DEFAULT 0,
    repeat_ms   INTEGER NOT NULL DEFAULT 0,
    recovery    INTEGER NOT NULL DEFAULT 1,
    mention     INTEGER NOT NULL DEFAULT 0,
    enabled     INTEGER NOT NULL DEFAULT 1,
    version     INTEGER NOT NULL DEFAULT 1,
    created_by  TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    changed_by  TEXT NOT NULL,
    changed_at  INTEGER NOT NULL,
    broken      TEXT NOT NULL DEFAULT '',
    broken_at   INTEGER NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS alert_rules_name ON alert_rules (team_id, name);

-- Breaches from their start to their end. open_key is the fingerprint while an
-- incident is not over, so that no cause has two.
CREATE TABLE IF NOT EXISTS incidents (
    id            TEXT NOT NULL PRIMARY KEY,
    rule_id       INTEGER NOT NULL,
    rule_name     TEXT NOT NULL,
    metric        TEXT NOT NULL,
    team_id       INTEGER NOT NULL,
    fingerprint   TEXT NOT NULL,
    open_key      TEXT NULL,
    state         TEXT NOT NULL,
    level         TEXT NOT NULL,
    host          TEXT NOT NULL DEFAULT '',
    threshold     REAL NOT NULL,
    value         REAL NOT NULL,
    worst         REAL NOT NULL,
    since_at      INTEGER NOT NULL,
    opened_at     INTEGER NULL,
    quiet_since   INTEGER NULL,
    quiets        INTEGER NOT NULL DEFAULT 0,
    ended_at      INTEGER NULL,
    ended_by      TEXT NOT NULL DEFAULT '',
    everyone      INTEGER NOT NULL DEFAULT 0,
    acked_by      TEXT NOT NULL DEFAULT '',
    acked_at      INTEGER NULL,
    assignee      TEXT NOT NULL DEFAULT '',
    note          TEXT NOT NULL DEFAULT '',
    silenced      INTEGER NOT NULL DEFAULT 0,
    tell_at       INTEGER NULL,
    told_at       INTEGER NULL,
    told_first_at INTEGER NULL,
    told          INTEGER NOT NULL DEFAULT 0,
    told_of       INTEGER NOT NULL DEFAULT 0,
    escalated_ms  INTEGER NOT NULL DEFAULT 0,
    version       INTEGER NOT NULL DEFAULT 1
);
CREATE UNIQUE INDEX IF NOT EXISTS incidents_open ON incidents (open_key);
CREATE INDEX IF NOT EXISTS incidents_team ON incidents (team_id, state, id);
CREATE INDEX IF NOT EXISTS incidents_state ON incidents (state, id);
CREATE INDEX IF NOT EXISTS incidents_rule ON incidents (rule_id, id);
CREATE INDEX IF NOT EXISTS incidents_ended ON incidents (ended_at);

-- What breaks the rule of an incident now; gone members are marked.
CREATE TABLE IF NOT EXISTS incident_members (
    incident_id  TEXT NOT NULL,
    subject_kind TEXT NOT NULL,
    subject_key  TEXT NOT NULL,
    subject_name TEXT NOT NULL DEFAULT '',
    value        REAL NOT NULL,
    since_at     INTEGER NULL,
    detail       TEXT NOT NULL DEFAULT '',
    instance_id  TEXT NULL,
    owner        TEXT NOT NULL DEFAULT '',
    level        TEXT NOT NULL,
    gone_at      INTEGER NULL,
    PRIMARY KEY (incident_id, subject_kind, subject_key)
);
CREATE INDEX IF NOT EXISTS incident_members_subject ON incident_members (subject_kind, subject_key, incident_id);

-- Where messages go. sealed holds the address and the key. claim and claimed_until
-- let one node at a time send; free_at is when the receiver's limit allows more.
CREATE TABLE IF NOT EXISTS channels (
    id            TEXT NOT NULL PRIMARY KEY,
    team_id       INTEGER NOT NULL,
    kind          TEXT NOT NULL,
    name          TEXT NOT NULL,
    language      TEXT NOT NULL,
    mention       TEXT NOT NULL,
    hint          TEXT NOT NULL DEFAULT '',
    recipients    TEXT NOT NULL DEFAULT '',
    user_id       INTEGER NULL,
    bad_text      TEXT NULL,
    good_text     TEXT NULL,
    sealed        TEXT NOT NULL,
    off_at        INTEGER NULL,
    off_why       TEXT NOT NULL DEFAULT '',
    claim         TEXT NULL,
    claimed_until INTEGER NULL,
    free_at       INTEGER NULL,
    version       INTEGER NOT NULL DEFAULT 1,
    created_by    TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    changed_by    TEXT NOT NULL,
    changed_at    INTEGER NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS channels_name ON channels (team_id, name);
CREATE INDEX IF NOT EXISTS channels_user ON channels (user_id);

-- Which channel is told of what: of a rule, of every rule of the team (rule_id 0 and
-- no events), or of events.
CREATE TABLE IF NOT EXISTS subscriptions (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    team_id    INTEGER NOT NULL,
    channel_id TEXT NOT NULL,
    rule_id    INTEGER NOT NULL DEFAULT 0,
    events     TEXT NOT NULL DEFAULT '',
    level      TEXT NOT NULL DEFAULT '',
    after_ms   INTEGER NOT NULL DEFAULT 0,
    zone       TEXT NOT NULL DEFAULT '',
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS subscriptions_team ON subscriptions (team_id, id);
CREATE INDEX IF NOT EXISTS subscriptions_channel ON subscriptions (channel_id);
CREATE INDEX IF NOT EXISTS subscriptions_rule ON subscriptions (rule_id);

-- Messages on their way. dedupe keeps one message from being stored twice; object
-- is what it tells of, and those of one object go in order.
CREATE TABLE IF NOT EXISTS deliveries (
    id          TEXT NOT NULL PRIMARY KEY,
    team_id     INTEGER NOT NULL,
    channel_id  TEXT NOT NULL,
    incident_id TEXT NULL,
    object      TEXT NOT NULL DEFAULT '',
    dedupe      TEXT NOT NULL,
    kind        TEXT NOT NULL,
    message     TEXT NOT NULL,
    state       TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    due_at      INTEGER NOT NULL,
    tries       INTEGER NOT NULL DEFAULT 0,
    sent_at     INTEGER NULL,
    ended_at    INTEGER NULL,
    merged_into TEXT NULL,
    verdict     TEXT NOT NULL DEFAULT '',
    status      INTEGER NOT NULL DEFAULT 0,
    code        TEXT NOT NULL DEFAULT '',
    body        TEXT NOT NULL DEFAULT '',
    took_ms     INTEGER NOT NULL DEFAULT 0,
    replay_of   TEXT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS deliveries_dedupe ON deliveries (channel_id, dedupe);
CREATE INDEX IF NOT EXISTS deliveries_due ON deliveries (state, due_at);
CREATE INDEX IF NOT EXISTS deliveries_channel ON deliveries (channel_id, state, id);
CREATE INDEX IF NOT EXISTS deliveries_object ON deliveries (channel_id, object, id);
CREATE INDEX IF NOT EXISTS deliveries_team ON deliveries (team_id, id);
CREATE INDEX IF NOT EXISTS deliveries_incident ON deliveries (incident_id, id);
CREATE INDEX IF NOT EXISTS deliveries_ended ON deliveries (ended_at);

-- Times in which messages are held back: once, or at each moment of a cron line.
CREATE TABLE IF NOT EXISTS silences (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    team_id     INTEGER NOT NULL,
    scope_kind  TEXT NOT NULL,
    scope_value TEXT NOT NULL DEFAULT '',
    rule_id     INTEGER NOT NULL DEFAULT 0,
    reason      TEXT NOT NULL,
    starts_at   INTEGER NOT NULL,
    ends_at     INTEGER NULL,
    cron        TEXT NOT NULL DEFAULT '',
    zone        TEXT NOT NULL DEFAULT '',
    lasts_ms    INTEGER NOT NULL DEFAULT 0,
    hold        INTEGER NOT NULL DEFAULT 0,
    created_by  TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    ended_at    INTEGER NULL
);
CREATE INDEX IF NOT EXISTS silences_team ON silences (team_id, id);
CREATE INDEX IF NOT EXISTS silences_ends ON silences (ended_at, ends_at);

-- Tasks that a silence has paused, until its window is over: the pause that it
-- set (NULL: a longer one was left alone), and the one that a person had set.
CREATE TABLE IF NOT EXISTS held_tasks (
    task_id      INTEGER NOT NULL,
    silence_id   INTEGER NOT NULL,
    until_at     INTEGER NOT NULL,
    set_until    INTEGER NULL,
    person_until INTEGER NULL,
    PRIMARY KEY (task_id, silence_id)
);
CREATE INDEX IF NOT EXISTS held_tasks_silence ON held_tasks (silence_id);

-- How robots call a person, to mention them.
CREATE TABLE IF NOT EXISTS chat_ids (
    user_id INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    value   TEXT NOT NULL,
    PRIMARY KEY (user_id, kind)
);

-- How the latest runs of a task ended, recomputed from them after each end: its
-- failures and failed tries in a row, and the latest of each with its cause; its
-- latest success; when its next one is due at the earliest; and how long those of
-- seven days took, counted anew when norm_due is past.
CREATE TABLE IF NOT EXISTS task_pulse (
    task_id        INTEGER NOT NULL PRIMARY KEY,
    version        INTEGER NOT NULL DEFAULT 0,
    counted_at     INTEGER NOT NULL,
    in_a_row       INTEGER NOT NULL DEFAULT 0,
    row_since      INTEGER NULL,
    tries_in_a_row INTEGER NOT NULL DEFAULT 0,
    tries_since    INTEGER NULL,
    last_end_at    INTEGER NULL,
    last_ok_at     INTEGER NULL,
    last_ok_id     TEXT NULL,
    last_ok_ms     INTEGER NULL,
    bad_id         TEXT NULL,
    bad_error      TEXT NOT NULL DEFAULT '',
    bad_cause      TEXT NOT NULL DEFAULT '',
    try_id         TEXT NULL,
    try_error      TEXT NOT NULL DEFAULT '',
    try_cause      TEXT NOT NULL DEFAULT '',
    host           TEXT NOT NULL DEFAULT '',
    expect_at      INTEGER NULL,
    norm_n         INTEGER NOT NULL DEFAULT 0,
    norm_p50_ms    INTEGER NOT NULL DEFAULT 0,
    norm_p95_ms    INTEGER NOT NULL DEFAULT 0,
    norm_at        INTEGER NULL,
    norm_due       INTEGER NULL
);
CREATE INDEX IF NOT EXISTS task_pulse_bad ON task_pulse (in_a_row);
CREATE INDEX IF NOT EXISTS task_pulse_tries ON task_pulse (tries_in_a_row);
CREATE INDEX IF NOT EXISTS task_pulse_expect ON task_pulse (expect_at);
CREATE INDEX IF NOT EXISTS task_pulse_norm ON task_pulse (norm_due);

-- What ended in the minutes of a window, of all tasks: the key has all that is
-- read.
DROP INDEX IF EXISTS stats_minute_minute;
CREATE INDEX IF NOT EXISTS stats_minute_counts ON stats_minute (minute_at, task_id, state, n);
