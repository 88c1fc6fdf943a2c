-- A database as version 1 of the schema made it: its tables, and the rows of a call that waits for a
-- decision. It stays as it is.
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

CREATE TABLE lease_waiter (
    thread_id BIGINT NOT NULL REFERENCES thread (id) ON DELETE CASCADE,
    owner TEXT NOT NULL,
    ticket BIGINT NOT NULL,
    until BIGINT NOT NULL,
    PRIMARY KEY (thread_id, owner)
);

CREATE TABLE message (
    thread_id BIGINT NOT NULL REFERENCES thread (id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    place BIGINT NOT NULL,
    archived BIGINT,
    body TEXT NOT NULL,
    PRIMARY KEY (thread_id, seq)
);
CREATE INDEX message_live ON message (thread_id) WHERE archived IS NULL;

CREATE TABLE value (
    thread_id BIGINT NOT NULL REFERENCES thread (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (thread_id, name)
);

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

INSERT INTO thread
    (id, namespace, agent, thread, "user", version, next_seq, in_call, state, last_step, owner, fence, lease_until, is_takeover, created, changed)
VALUES
    (2125620238736907282, 'default', 'clerk', 'ada', 'u-1', 3, 2, 0, '{"asking":{"run":"745fbf77-f54c-4cf7-8acc-13cdce3739c0","calls":[{"id":"1","call":{"id":"1","name":"pay","input":{"euros":12}},"why":{"permission":"money leaves"},"asked_by":"PRE_ACTING"}]},"unanswered":0}', 1594494818854134329, NULL, 1, 0, 0, 1795475932610, 1795475932621);
INSERT INTO message
    (thread_id, seq, place, archived, body)
VALUES
    (2125620238736907282, 0, 0, NULL, '{"v":1,"role":"user","name":"user","content":[{"type":"text","text":"Pay the baker"}]}');
INSERT INTO message
    (thread_id, seq, place, archived, body)
VALUES
    (2125620238736907282, 1, 1, NULL, '{"v":1,"role":"assistant","name":"clerk","content":[{"type":"tool_use","id":"1","name":"pay","input":{"euros":12}}],"usage":{"input_tokens":0,"output_tokens":0}}');
INSERT INTO tool_call
    (thread_id, key, state, is_live, body, changed)
VALUES
    (2125620238736907282, '745fbf77-f54c-4cf7-8acc-13cdce3739c0-1-0', 0, 1, '{"key":"745fbf77-f54c-4cf7-8acc-13cdce3739c0-1-0","id":"1","tool":"pay","state":"open"}', 1795475932620);
INSERT INTO question
    (id, thread_id, namespace, body, since, expires, decision, decided_by, decided_at, closed)
VALUES
    ('bd195789f6a843ba868c.b295e4deaa7f85133b9569b4f5eb59d0', 2125620238736907282, 'default', '{"id":"bd195789f6a843ba868c.b295e4deaa7f85133b9569b4f5eb59d0","agent":"clerk","thread":"ada","run":"745fbf77-f54c-4cf7-8acc-13cdce3739c0","call_id":"1","tool":"pay","arguments":{"euros":12},"description":"money leaves","allowed":["approve","edit","reject","respond"],"schema":{},"why":{"permission":"money leaves"},"asked_by":"PRE_ACTING","since":1795475932621,"digest":"b295e4deaa7f85133b9569b4f5eb59d0c2f67d427a277e2e9383f161867c70c7"}', 1795475932621, NULL, NULL, NULL, NULL, 0);
