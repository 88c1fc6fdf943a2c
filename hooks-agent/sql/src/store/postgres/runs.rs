//! Statements for runs in PostgreSQL.

use std::collections::BTreeSet;

use sqlx::Postgres;

use crate::store::runs::{RunStatements, run_statements};

impl RunStatements for Postgres {
    run_statements!(
        "(SELECT array_to_string(tsvector_to_array(t.words), ' ') FROM run_text t WHERE t.id = r.id)"
    );

    const COUNTED: &str = "SELECT r.run, r.started, c.totals
FROM run r JOIN run_content c ON c.id = r.id WHERE r.namespace = $1 AND r.run = ANY($2)";

    const KEEP_RUNS: &str = r#"
INSERT INTO run (namespace, run, parent, agent, thread, "user", state, started, ended)
SELECT $1, k.run, nullif(k.parent, ''), k.agent, k.thread, nullif(k."user", ''), k.state,
    k.started, k.ended
FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[],
    $9::bigint[]) AS k (run, parent, agent, thread, "user", state, started, ended)
ON CONFLICT (namespace, run) DO UPDATE SET parent = excluded.parent, agent = excluded.agent,
    thread = excluded.thread, "user" = excluded."user", state = excluded.state,
    started = excluded.started, ended = excluded.ended"#;

    const KEEP_CONTENTS: &str = "
INSERT INTO run_content (id, summary, entries, totals)
SELECT r.id, k.summary, k.entries, k.totals
FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS k (run, summary, entries, totals)
JOIN run r ON r.namespace = $1 AND r.run = k.run
ON CONFLICT (id) DO UPDATE
    SET summary = excluded.summary, entries = excluded.entries, totals = excluded.totals";

    const KEEP_WORDS: &str = "
INSERT INTO run_text (id, words)
SELECT r.id, array_to_tsvector(string_to_array(k.words, ' '))
FROM unnest($2::text[], $3::text[]) AS k (run, words)
JOIN run r ON r.namespace = $1 AND r.run = k.run
ON CONFLICT (id) DO UPDATE SET words = excluded.words";

    const KEEP_SERIES: &str = "
INSERT INTO run_series (namespace, kind, name, metric)
SELECT $1, k.kind, k.name, k.metric
FROM unnest($2::text[], $3::text[], $4::text[]) AS k (kind, name, metric)
WHERE NOT EXISTS (
    SELECT 1 FROM run_series s
    WHERE s.namespace = $1 AND s.kind = k.kind AND s.name = k.name AND s.metric = k.metric)";

    const ADD_TOTALS: &str = "
INSERT INTO run_total (namespace, span, at, series, value)
SELECT $1, k.span, k.at, s.id, k.value
FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[])
    AS k (span, at, kind, name, metric, value)
JOIN run_series s
    ON s.namespace = $1 AND s.kind = k.kind AND s.name = k.name AND s.metric = k.metric
ON CONFLICT (namespace, span, at, series) DO UPDATE SET value = run_total.value + excluded.value";

    const MATCH: [&str; 2] =
        ["r.id IN (SELECT t.id FROM run_text t WHERE t.words @@ CAST(", " AS tsquery))"];

    const RUNS_OF_THREADS: &str = "
WITH RECURSIVE below (id, run) AS (
    SELECT r.id, r.run FROM unnest($2::text[], $3::text[]) AS t (agent, thread)
    JOIN run r ON r.namespace = $1 AND r.agent = t.agent AND r.thread = t.thread
    UNION
    SELECT c.id, c.run FROM below b JOIN run c ON c.namespace = $1 AND c.parent = b.run)
SELECT b.id FROM below b";

    const REMOVE_RUNS: &str = "DELETE FROM run WHERE id = ANY($1)";

    fn query(words: &BTreeSet<String>) -> String {
        let words: Vec<_> = words.iter().map(|word| format!("'{word}':*")).collect();
        words.join(" & ")
    }
}
