-- What subjects use of quotas: a key is counted once. `expires` is when it counts no longer.
CREATE TABLE quota_use (
    namespace TEXT NOT NULL,
    quota TEXT NOT NULL,
    subject TEXT NOT NULL,
    key TEXT NOT NULL,
    amount BIGINT NOT NULL,
    at BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    PRIMARY KEY (namespace, quota, subject, key)
);
-- A sum reads the index alone.
CREATE INDEX quota_use_window ON quota_use (namespace, quota, subject, at, amount, key);
CREATE INDEX quota_use_expired ON quota_use (namespace, expires);

-- Answers of people that reach beyond their question; `body` is the rule as JSON. Amounts are millionths.
CREATE TABLE approval (
    id TEXT PRIMARY KEY NOT NULL,
    namespace TEXT NOT NULL,
    agent TEXT,
    thread TEXT,
    "user" TEXT,
    tool TEXT NOT NULL,
    body TEXT NOT NULL,
    given_by TEXT NOT NULL,
    given_at BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    most_uses BIGINT,
    uses BIGINT NOT NULL DEFAULT 0,
    most_sum BIGINT,
    sum BIGINT NOT NULL DEFAULT 0,
    revoked_by TEXT,
    revoked_at BIGINT
);
CREATE INDEX approval_tool ON approval (namespace, tool) WHERE revoked_at IS NULL;
CREATE INDEX approval_given ON approval (namespace, given_at, id);

-- Messages for the call that runs on a thread, in order.
CREATE TABLE inbox (
    thread_id BIGINT NOT NULL REFERENCES thread (id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    key TEXT NOT NULL,
    body TEXT NOT NULL,
    said_by TEXT,
    at BIGINT NOT NULL,
    PRIMARY KEY (thread_id, seq),
    UNIQUE (thread_id, key)
);

-- Runs that ended or were cut off; `body` is what is shown of one, as JSON.
CREATE TABLE run (
    namespace TEXT NOT NULL,
    id TEXT NOT NULL,
    parent TEXT,
    agent TEXT NOT NULL,
    thread TEXT NOT NULL,
    "user" TEXT,
    began BIGINT NOT NULL,
    ended BIGINT,
    outcome TEXT,
    body TEXT NOT NULL,
    PRIMARY KEY (namespace, id)
);
CREATE INDEX run_began ON run (namespace, began);
CREATE INDEX run_thread ON run (namespace, agent, thread, began);

-- The thread, and its version, of which a thread is a fork.
ALTER TABLE thread ADD COLUMN fork_of BIGINT;
ALTER TABLE thread ADD COLUMN fork_version BIGINT;
