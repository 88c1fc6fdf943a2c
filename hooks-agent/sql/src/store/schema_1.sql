-- The same for SQLite and PostgreSQL. Times are milliseconds since 1970 by the clock of the database.
-- What a step writes to `thread` has no index: PostgreSQL then updates the row in its page.
-- `last_step` is a hash of the last step: one that is written again is known.
CREATE TABLE thread (
    id BIGINT PRIMARY KEY NOT NULL,
    namespace TEXT NOT NULL,
    agent TEXT NOT NULL,
    thread TEXT NOT NULL,
    "user" TEXT,
    version BIGINT NOT NULL DEFAULT 0,
    next_seq BIGINT NOT NULL DEFAULT 0,
    in_call BIGINT NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT 'null',
    last_step BIGINT NOT NULL DEFAULT 0,
    owner TEXT,
    fence BIGINT NOT NULL DEFAULT 0,
    lease_until BIGINT NOT NULL DEFAULT 0,
    is_takeover BIGINT NOT NULL DEFAULT 0,
    created BIGINT NOT NULL,
    changed BIGINT NOT NULL,
    UNIQUE (namespace, agent, thread)
);
CREATE INDEX thread_user ON thread (namespace, "user") WHERE "user" IS NOT NULL;

-- Who waits for a lease, the first ticket first.
CREATE TABLE lease_waiter (
    thread_id BIGINT NOT NULL REFERENCES thread (id) ON DELETE CASCADE,
    owner TEXT NOT NULL,
    ticket BIGINT NOT NULL,
    until BIGINT NOT NULL,
    PRIMARY KEY (thread_id, owner)
);

-- Messages; `archived` is the version of the thread that replaced the message.
CREATE TABLE message (
    thread_id BIGINT NOT NULL REFERENCES thread (id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    place BIGINT NOT NULL,
    archived BIGINT,
    body TEXT NOT NULL,
    PRIMARY KEY (thread_id, seq)
);
CREATE INDEX message_live ON message (thread_id) WHERE archived IS NULL;

-- Values of hooks, as JSON.
CREATE TABLE value (
    thread_id BIGINT NOT NULL REFERENCES thread (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (thread_id, name)
);

-- Tool calls as JSON: 0 open, 1 started, 2 answered. One is live until it is answered and its result
-- is among the messages.
CREATE TABLE tool_call (
    thread_id BIGINT NOT NULL REFERENCES thread (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    state BIGINT NOT NULL,
    is_live BIGINT NOT NULL,
    body TEXT NOT NULL,
    changed BIGINT NOT NULL,
    PRIMARY KEY (thread_id, key)
);
CREATE INDEX tool_call_live ON tool_call (thread_id) WHERE is_live = 1;

-- Questions to people; `body` is the question as JSON, `decision` the decision as JSON.
CREATE TABLE question (
    id TEXT PRIMARY KEY NOT NULL,
    thread_id BIGINT NOT NULL REFERENCES thread (id) ON DELETE CASCADE,
    namespace TEXT NOT NULL,
    body TEXT NOT NULL,
    since BIGINT NOT NULL,
    expires BIGINT,
    decision TEXT,
    decided_by TEXT,
    decided_at BIGINT,
    closed BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX question_thread ON question (thread_id);
CREATE INDEX question_waiting ON question (namespace, since, id) WHERE closed = 0;
