//! Statements for runs in SQLite.

use std::collections::BTreeSet;

use sqlx::Sqlite;

use crate::store::runs::{RunStatements, run_statements};

impl RunStatements for Sqlite {
    run_statements!("(SELECT t.words FROM run_text t WHERE t.rowid = r.id)");

    const COUNTED: &str = "SELECT r.run, r.started, c.totals
FROM json_each($2) AS j CROSS JOIN run r CROSS JOIN run_content c
WHERE r.namespace = $1 AND r.run = j.value AND c.id = r.id";

    const KEEP_RUNS: &str = r#"
INSERT INTO run (namespace, run, parent, agent, thread, "user", state, started, ended)
SELECT $1, value ->> 0, nullif(value ->> 1, ''), value ->> 2, value ->> 3, nullif(value ->> 4, ''),
    value ->> 5, value ->> 6, value ->> 7
FROM json_each($2) WHERE true
ON CONFLICT (namespace, run) DO UPDATE SET parent = excluded.parent, agent = excluded.agent,
    thread = excluded.thread, "user" = excluded."user", state = excluded.state,
    started = excluded.started, ended = excluded.ended"#;

    const KEEP_CONTENTS: &str = "
INSERT INTO run_content (id, summary, entries, totals)
SELECT r.id, j.value ->> 1, j.value ->> 2, j.value ->> 3
FROM json_each($2) AS j CROSS JOIN run r WHERE r.namespace = $1 AND r.run = j.value ->> 0
ON CONFLICT (id) DO UPDATE
    SET summary = excluded.summary, entries = excluded.entries, totals = excluded.totals";

    const KEEP_WORDS: &str = "
REPLACE INTO run_text (rowid, words)
SELECT r.id, j.value ->> 1
FROM json_each($2) AS j CROSS JOIN run r WHERE r.namespace = $1 AND r.run = j.value ->> 0";

    const KEEP_SERIES: &str = "
INSERT INTO run_series (namespace, kind, name, metric)
SELECT $1, value ->> 0, value ->> 1, value ->> 2 FROM json_each($2) WHERE true
ON CONFLICT (namespace, kind, name, metric) DO NOTHING";

    const ADD_TOTALS: &str = "
INSERT INTO run_total (namespace, span, at, series, value)
SELECT $1, j.value ->> 0, j.value ->> 1, s.id, j.value ->> 5
FROM json_each($2) AS j CROSS JOIN run_series s
WHERE s.namespace = $1 AND s.kind = j.value ->> 2 AND s.name = j.value ->> 3
    AND s.metric = j.value ->> 4
ON CONFLICT (namespace, span, at, series) DO UPDATE SET value = run_total.value + excluded.value";

    const MATCH: [&str; 2] =
        ["r.id IN (SELECT t.rowid FROM run_text t WHERE t.run_text MATCH ", ")"];

    const RUNS_OF_THREADS: &str = "
WITH RECURSIVE below (id, run) AS (
    SELECT r.id, r.run FROM json_each($2) AS j CROSS JOIN run r
    WHERE r.namespace = $1 AND r.agent = j.value ->> 0 AND r.thread = j.value ->> 1
    UNION
    SELECT c.id, c.run FROM below b JOIN run c ON c.namespace = $1 AND c.parent = b.run)
SELECT b.id FROM below b";

    const REMOVE_RUNS: &str = "DELETE FROM run WHERE id IN (SELECT value FROM json_each($1))";

    fn query(words: &BTreeSet<String>) -> String {
        let words: Vec<_> = words.iter().map(|word| format!("\"{word}\" *")).collect();
        words.join(" AND ")
    }
}
