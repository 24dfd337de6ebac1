-- +goose Up
-- Alerts: rules, incidents, channels and what was told to whom.

-- Thresholds on metrics. team_id 0: the installation's. broken says why the rule
-- could not be judged at its last turn.
CREATE TABLE IF NOT EXISTS alert_rules (
    id          BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    team_id     BIGINT NOT NULL,
    name        VARCHAR(200) NOT NULL,
    metric      VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    scope_kind  VARCHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    scope_value VARCHAR(200) NOT NULL DEFAULT '',
    threshold   DOUBLE NOT NULL,
    window_ms   BIGINT NOT NULL DEFAULT 0,
    least       INT NOT NULL DEFAULT 0,
    for_ms      BIGINT NOT NULL DEFAULT 0,
    level       VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    each_try    TINYINT(1) NOT NULL DEFAULT 0,
    repeat_ms   BIGINT NOT NULL DEFAULT 0,
    recovery    TINYINT(1) NOT NULL DEFAULT 1,
    mention     TINYINT(1) NOT NULL DEFAULT 0,
    enabled     TINYINT(1) NOT NULL DEFAULT 1,
    version     INT NOT NULL DEFAULT 1,
    created_by  VARCHAR(100) NOT NULL,
    created_at  BIGINT NOT NULL,
    changed_by  VARCHAR(100) NOT NULL,
    changed_at  BIGINT NOT NULL,
    broken      VARCHAR(500) NOT NULL DEFAULT '',
    broken_at   BIGINT NULL,
    UNIQUE KEY alert_rules_name (team_id, name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

-- Breaches from their start to their end. open_key is the fingerprint while an
-- incident is not over, so that no cause has two.
CREATE TABLE IF NOT EXISTS incidents (
    id            CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY,
    rule_id       BIGINT NOT NULL,
    rule_name     VARCHAR(200) NOT NULL,
    metric        VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    team_id       BIGINT NOT NULL,
    fingerprint   VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    open_key      VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    state         VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    level         VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    host          VARCHAR(255) NOT NULL DEFAULT '',
    threshold     DOUBLE NOT NULL,
    value         DOUBLE NOT NULL,
    worst         DOUBLE NOT NULL,
    since_at      BIGINT NOT NULL,
    opened_at     BIGINT NULL,
    quiet_since   BIGINT NULL,
    quiets        INT NOT NULL DEFAULT 0,
    ended_at      BIGINT NULL,
    ended_by      VARCHAR(100) NOT NULL DEFAULT '',
    everyone      INT NOT NULL DEFAULT 0,
    acked_by      VARCHAR(100) NOT NULL DEFAULT '',
    acked_at      BIGINT NULL,
    assignee      VARCHAR(100) NOT NULL DEFAULT '',
    note          VARCHAR(2000) NOT NULL DEFAULT '',
    silenced      TINYINT(1) NOT NULL DEFAULT 0,
    tell_at       BIGINT NULL,
    told_at       BIGINT NULL,
    told_first_at BIGINT NULL,
    told          INT NOT NULL DEFAULT 0,
    told_of       INT NOT NULL DEFAULT 0,
    escalated_ms  BIGINT NOT NULL DEFAULT 0,
    version       INT NOT NULL DEFAULT 1,
    UNIQUE KEY incidents_open (open_key),
    KEY incidents_team (team_id, state, id),
    KEY incidents_state (state, id),
    KEY incidents_rule (rule_id, id),
    KEY incidents_ended (ended_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

-- What breaks the rule of an incident now; gone members are marked.
CREATE TABLE IF NOT EXISTS incident_members (
    incident_id  CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    subject_kind VARCHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    subject_key  VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    subject_name VARCHAR(200) NOT NULL DEFAULT '',
    value        DOUBLE NOT NULL,
    since_at     BIGINT NULL,
    detail       VARCHAR(500) NOT NULL DEFAULT '',
    instance_id  CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    owner        VARCHAR(100) NOT NULL DEFAULT '',
    level        VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    gone_at      BIGINT NULL,
    PRIMARY KEY (incident_id, subject_kind, subject_key),
    KEY incident_members_subject (subject_kind, subject_key, incident_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

-- Where messages go. sealed holds the address and the key. claim and claimed_until
-- let one node at a time send; free_at is when the receiver's limit allows more.
CREATE TABLE IF NOT EXISTS channels (
    id            CHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY,
    team_id       BIGINT NOT NULL,
    kind          VARCHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    name          VARCHAR(200) NOT NULL,
    language      VARCHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    mention       VARCHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    hint          VARCHAR(200) NOT NULL DEFAULT '',
    recipients    VARCHAR(2500) NOT NULL DEFAULT '',
    user_id       BIGINT NULL,
    bad_text      MEDIUMTEXT NULL,
    good_text     MEDIUMTEXT NULL,
    sealed        MEDIUMTEXT NOT NULL,
    off_at        BIGINT NULL,
    off_why       VARCHAR(500) NOT NULL DEFAULT '',
    claim         CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    claimed_until BIGINT NULL,
    free_at       BIGINT NULL,
    version       INT NOT NULL DEFAULT 1,
    created_by    VARCHAR(100) NOT NULL,
    created_at    BIGINT NOT NULL,
    changed_by    VARCHAR(100) NOT NULL,
    changed_at    BIGINT NOT NULL,
    UNIQUE KEY channels_name (team_id, name),
    KEY channels_user (user_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

-- Which channel is told of what: of a rule, of every rule of the team (rule_id 0 and
-- no events), or of events.
CREATE TABLE IF NOT EXISTS subscriptions (
    id         BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    team_id    BIGINT NOT NULL,
    channel_id CHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    rule_id    BIGINT NOT NULL DEFAULT 0,
    events     VARCHAR(500) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    level      VARCHAR(8) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    after_ms   BIGINT NOT NULL DEFAULT 0,
    zone       VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    created_by VARCHAR(100) NOT NULL,
    created_at BIGINT NOT NULL,
    KEY subscriptions_team (team_id, id),
    KEY subscriptions_channel (channel_id),
    KEY subscriptions_rule (rule_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

-- Messages on their way. dedupe keeps one message from being stored twice; object
-- is what it tells of, and those of one object go in order.
CREATE TABLE IF NOT EXISTS deliveries (
    id          CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY,
    team_id     BIGINT NOT NULL,
    channel_id  CHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    incident_id CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    object      VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    dedupe      VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    kind        VARCHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    message     MEDIUMTEXT NOT NULL,
    state       VARCHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    created_at  BIGINT NOT NULL,
    due_at      BIGINT NOT NULL,
    tries       INT NOT NULL DEFAULT 0,
    sent_at     BIGINT NULL,
    ended_at    BIGINT NULL,
    merged_into CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    verdict     VARCHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    status      INT NOT NULL DEFAULT 0,
    code        VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    body        VARCHAR(500) NOT NULL DEFAULT '',
    took_ms     BIGINT NOT NULL DEFAULT 0,
    replay_of   CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    UNIQUE KEY deliveries_dedupe (channel_id, dedupe),
    KEY deliveries_due (state, due_at),
    KEY deliveries_channel (channel_id, state, id),
    KEY deliveries_object (channel_id, object, id),
    KEY deliveries_team (team_id, id),
    KEY deliveries_incident (incident_id, id),
    KEY deliveries_ended (ended_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

-- Times in which messages are held back: once, or at each moment of a cron line.
CREATE TABLE IF NOT EXISTS silences (
    id          BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    team_id     BIGINT NOT NULL,
    scope_kind  VARCHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    scope_value VARCHAR(200) NOT NULL DEFAULT '',
    rule_id     BIGINT NOT NULL DEFAULT 0,
    reason      VARCHAR(500) NOT NULL,
    starts_at   BIGINT NOT NULL,
    ends_at     BIGINT NULL,
    cron        VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    zone        VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    lasts_ms    BIGINT NOT NULL DEFAULT 0,
    hold        TINYINT(1) NOT NULL DEFAULT 0,
    created_by  VARCHAR(100) NOT NULL,
    created_at  BIGINT NOT NULL,
    ended_at    BIGINT NULL,
    KEY silences_team (team_id, id),
    KEY silences_ends (ended_at, ends_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

-- Tasks that a silence has paused, until its window is over: the pause that it
-- set (NULL: a longer one was left alone), and the one that a person had set.
CREATE TABLE IF NOT EXISTS held_tasks (
    task_id      BIGINT NOT NULL,
    silence_id   BIGINT NOT NULL,
    until_at     BIGINT NOT NULL,
    set_until    BIGINT NULL,
    person_until BIGINT NULL,
    PRIMARY KEY (task_id, silence_id),
    KEY held_tasks_silence (silence_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

-- How robots call a person, to mention them.
CREATE TABLE IF NOT EXISTS chat_ids (
    user_id BIGINT NOT NULL,
    kind    VARCHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    value   VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    PRIMARY KEY (user_id, kind)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

-- How the latest runs of a task ended, recomputed from them after each end: its
-- failures and failed tries in a row, and the latest of each with its cause; its
-- latest success; when its next one is due at the earliest; and how long those of
-- seven days took, counted anew when norm_due is past.
CREATE TABLE IF NOT EXISTS task_pulse (
    task_id        BIGINT NOT NULL PRIMARY KEY,
    version        INT NOT NULL DEFAULT 0,
    counted_at     BIGINT NOT NULL,
    in_a_row       INT NOT NULL DEFAULT 0,
    row_since      BIGINT NULL,
    tries_in_a_row INT NOT NULL DEFAULT 0,
    tries_since    BIGINT NULL,
    last_end_at    BIGINT NULL,
    last_ok_at     BIGINT NULL,
    last_ok_id     CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    last_ok_ms     BIGINT NULL,
    bad_id         CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    bad_error      VARCHAR(500) NOT NULL DEFAULT '',
    bad_cause      VARCHAR(200) NOT NULL DEFAULT '',
    try_id         CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    try_error      VARCHAR(500) NOT NULL DEFAULT '',
    try_cause      VARCHAR(200) NOT NULL DEFAULT '',
    host           VARCHAR(255) NOT NULL DEFAULT '',
    expect_at      BIGINT NULL,
    norm_n         INT NOT NULL DEFAULT 0,
    norm_p50_ms    BIGINT NOT NULL DEFAULT 0,
    norm_p95_ms    BIGINT NOT NULL DEFAULT 0,
    norm_at        BIGINT NULL,
    norm_due       BIGINT NULL,
    KEY task_pulse_bad (in_a_row),
    KEY task_pulse_tries (tries_in_a_row),
    KEY task_pulse_expect (expect_at),
    KEY task_pulse_norm (norm_due)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

-- What ended in the minutes of a window, of all tasks: the key has all that is
-- read. One statement, so that it is done whole or not at all; none when it was
-- done already.
SET @change = (SELECT IF(COUNT(*) = 0, 'DO 0', 'ALTER TABLE stats_minute DROP KEY stats_minute_minute, ADD KEY stats_minute_counts (minute_at, task_id, state, n)')
    FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'stats_minute' AND index_name = 'stats_minute_minute');
PREPARE minute_keys FROM @change;
EXECUTE minute_keys;
DEALLOCATE PREPARE minute_keys;
