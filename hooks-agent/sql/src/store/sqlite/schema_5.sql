
-- Runs, with what lists look for. `run` is the id of the call.
CREATE TABLE run (
    id INTEGER PRIMARY KEY NOT NULL,
    namespace TEXT NOT NULL,
    run TEXT NOT NULL,
    parent TEXT,
    agent TEXT NOT NULL,
    thread TEXT NOT NULL,
    "user" TEXT,
    state TEXT NOT NULL,
    started BIGINT NOT NULL,
    ended BIGINT,
    UNIQUE (namespace, run)
);
CREATE INDEX run_started ON run (namespace, started, run);
CREATE INDEX run_agent ON run (namespace, agent, started, run);
CREATE INDEX run_thread ON run (namespace, thread, started, run);
CREATE INDEX run_state ON run (namespace, state, started, run);
CREATE INDEX run_user ON run (namespace, "user", started, run) WHERE "user" IS NOT NULL;
CREATE INDEX run_parent ON run (namespace, parent) WHERE parent IS NOT NULL;

-- What is shown of runs, and the totals that are counted of them, as JSON.
CREATE TABLE run_content (
    id BIGINT PRIMARY KEY NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    summary TEXT NOT NULL,
    entries TEXT NOT NULL,
    totals TEXT NOT NULL
);

-- The words of runs. Their characters are letters and digits: all others that are not of ASCII are such for this
-- tokenizer too. What is removed is removed from the index at once.
CREATE VIRTUAL TABLE run_text USING fts5 (words, detail = column, columnsize = 0, tokenize = ascii);
INSERT INTO run_text (run_text, rank) VALUES ('secure-delete', 1);
CREATE TRIGGER run_removed AFTER DELETE ON run BEGIN
    DELETE FROM run_text WHERE rowid = OLD.id;
END;

-- What totals of runs are of, and their sums: of the hour or the day, as `span` has its milliseconds, that begins
-- at a time.
CREATE TABLE run_series (
    id INTEGER PRIMARY KEY NOT NULL,
    namespace TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    metric TEXT NOT NULL,
    UNIQUE (namespace, kind, name, metric)
);
CREATE TABLE run_total (
    namespace TEXT NOT NULL,
    span BIGINT NOT NULL,
    at BIGINT NOT NULL,
    series BIGINT NOT NULL REFERENCES run_series (id) ON DELETE CASCADE,
    value NUMERIC NOT NULL,
    PRIMARY KEY (namespace, span, at, series)
) WITHOUT ROWID;
CREATE INDEX run_total_series ON run_total (series);
