//! The statements for runs.

use std::collections::BTreeSet;

use crate::database::Dialect;

/// The statements for runs in one database, with their parameters in this order. The first one is the namespace.
///
/// Those that are the same in all databases come from a macro.
pub trait RunStatements: Dialect {
    /// The ids of a list of runs that are there, when these began, and their totals.
    const COUNTED: &'static str;

    /// Writes runs: a table of ids, parents, agents, threads, users, states, begins and ends.
    const KEEP_RUNS: &'static str;

    /// Writes what is shown of runs: a table of their ids, summaries, entries and totals.
    const KEEP_CONTENTS: &'static str;

    /// Writes the words of runs: a table of their ids and words.
    const KEEP_WORDS: &'static str;

    /// Names what is counted: a table of kinds, names and metrics.
    const KEEP_SERIES: &'static str;

    /// Adds to sums: a table of spans, times, kinds, names, metrics and values.
    const ADD_TOTALS: &'static str;

    /// Begins and ends the condition that the words of a run match a parameter.
    const MATCH: [&'static str; 2];

    /// A run.
    const RUN: &'static str;

    /// A run and those below it, up to a number.
    const BELOW: &'static str;

    /// What is counted, of a kind if one is given.
    const SERIES: &'static str;

    /// The sums by steps and what is counted: the begin, the end of days, the end of hours, the step, the kind if one
    /// is given.
    const SUMS: &'static str;

    /// The numbers of the runs of a table of agents and threads, and then of those below them.
    const RUNS_OF_THREADS: &'static str;

    /// Removes the runs of a list of numbers, which is the only parameter.
    const REMOVE_RUNS: &'static str;

    /// Removes what is counted of a user, or of each, of whom there is no run.
    const FORGET_USERS: &'static str;

    /// Removes a number of runs that began before a time.
    const PRUNE_RUNS: &'static str;

    /// Removes the sums before a time.
    const PRUNE_TOTALS: &'static str;

    /// Removes what nothing is counted of.
    const PRUNE_SERIES: &'static str;

    /// Returns the parameter of [`MATCH`](Self::MATCH): each of the words, which have letters and digits alone, begins
    /// a word.
    fn query(words: &BTreeSet<String>) -> String;
}

/// Writes the statements that differ in no more than the expression of the words of a run.
macro_rules! run_statements {
    ($words:literal) => {
        const RUN: &str = concat!(
            r#"SELECT r.run, r.parent, r.agent, r.thread, r."user", r.state, r.started, r.ended,
    c.summary, c.entries, c.totals, "#,
            $words,
            "
FROM run r JOIN run_content c ON c.id = r.id WHERE r.namespace = $1 AND r.run = $2"
        );

        const BELOW: &str = concat!(
            r#"WITH RECURSIVE below (id, run) AS (
    SELECT r.id, r.run FROM run r WHERE r.namespace = $1 AND r.run = $2
    UNION
    SELECT p.id, p.run FROM below b JOIN run p ON p.namespace = $1 AND p.parent = b.run)
SELECT r.run, r.parent, r.agent, r.thread, r."user", r.state, r.started, r.ended,
    c.summary, c.entries, c.totals, "#,
            $words,
            "
FROM below b JOIN run r ON r.id = b.id JOIN run_content c ON c.id = r.id ORDER BY r.started, r.run
LIMIT $3"
        );

        const SERIES: &str = "SELECT id, kind, name, metric FROM run_series
WHERE namespace = $1 AND (CAST($2 AS TEXT) IS NULL OR kind = $2)";

        const SUMS: &str = "
SELECT $2 + (t.at - $2) / $5 * $5, t.series,
    CASE WHEN sum(CAST(t.value AS DOUBLE PRECISION)) > 9007199254740991.0
        THEN 9007199254740991
        ELSE CAST(sum(CAST(t.value AS DOUBLE PRECISION)) AS BIGINT) END
FROM (
    SELECT at, series, value FROM run_total
    WHERE namespace = $1 AND span = 86400000 AND at >= $2 AND at < $3
    UNION ALL
    SELECT at, series, value FROM run_total
    WHERE namespace = $1 AND span = 3600000 AND at >= $3 AND at < $4
) AS t
WHERE CAST($6 AS TEXT) IS NULL
    OR t.series IN (SELECT s.id FROM run_series s WHERE s.namespace = $1 AND s.kind = $6)
GROUP BY 1, 2 HAVING sum(CAST(t.value AS DOUBLE PRECISION)) > 0";

        const FORGET_USERS: &str = r#"DELETE FROM run_series
WHERE namespace = $1 AND kind = 'user' AND (CAST($2 AS TEXT) IS NULL OR name = $2)
    AND NOT EXISTS (
        SELECT 1 FROM run r WHERE r.namespace = $1 AND r."user" = run_series.name)"#;

        const PRUNE_RUNS: &str = "DELETE FROM run WHERE id IN (
    SELECT r.id FROM run r WHERE r.namespace = $1 AND r.started < $2 ORDER BY r.started LIMIT $3)";

        const PRUNE_TOTALS: &str = "DELETE FROM run_total
WHERE namespace = $1 AND span IN (3600000, 86400000) AND at < $2";

        const PRUNE_SERIES: &str = "DELETE FROM run_series
WHERE namespace = $1 AND NOT EXISTS (SELECT 1 FROM run_total t WHERE t.series = run_series.id)";
    };
}
pub(crate) use run_statements;
