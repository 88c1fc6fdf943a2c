//! Statements that have a condition for each field of a filter that is set, and no other.

use hooks_agent_core::store::{Filter, RunCursor, RunError, RunFilter, words_of};

use crate::database::{Statement, millis, signed};
use crate::store::statements::Statements;

/// Returns the statement that lists runs, with one more than a page has; nothing if none can be found.
pub(super) fn list<'a, D: Statements>(
    namespace: &'a str,
    filter: &'a RunFilter,
) -> Result<Option<Statement<'a>>, RunError> {
    let RunFilter { agent, user, thread, state, words, .. } = filter;
    let names = [("agent", agent), ("\"user\"", user), ("thread", thread), ("state", state)];
    if names.iter().any(|(_, name)| name.as_ref().is_some_and(|name| name.contains('\0'))) {
        return Ok(None);
    }
    let mut statement = Statement::new(
        "SELECT c.summary, p.started, p.run FROM (
    SELECT r.id, r.started, r.run FROM run r WHERE",
    );
    statement.push_param(" r.namespace = ", namespace);
    for (column, name) in names {
        if let Some(name) = name {
            statement.push_param(&format!(" AND r.{column} = "), &**name);
        }
    }
    times(&mut statement, filter);
    if let Some(words) = words {
        let Some(query) = query::<D>(words)? else { return Ok(None) };
        let [begin, end] = D::MATCH;
        statement.push_param(&format!(" AND {begin}"), query);
        statement.push(end);
        // How often a word is found decides which index is read.
        statement = statement.unnamed();
    }
    let most = i64::from(filter.page_size()) + 1;
    statement.push_param(" ORDER BY r.started DESC, r.run DESC LIMIT ", most);
    statement.push(") AS p JOIN run_content c ON c.id = p.id ORDER BY p.started DESC, p.run DESC");
    Ok(Some(statement))
}

/// Adds when runs began.
fn times(statement: &mut Statement<'_>, filter: &RunFilter) {
    if let Some(since) = filter.since {
        statement.push_param(" AND r.started >= ", signed(since));
    }
    if let Some(until) = filter.until {
        statement.push_param(" AND r.started < ", signed(until));
    }
    if let Some(RunCursor { started, run }) = filter.before {
        statement.push_param(" AND (r.started, r.run) < (", signed(started));
        statement.push_param(", ", run.to_string());
        statement.push(")");
    }
}

/// Returns what the words of runs are compared with; nothing if there is no word.
fn query<D: Statements>(words: &str) -> Result<Option<String>, RunError> {
    let words = words_of(words);
    if words.len() > RunFilter::MOST_WORDS {
        return Err(RunError::TooManyWords { found: words.len(), most: RunFilter::MOST_WORDS });
    }
    Ok((!words.is_empty()).then(|| D::query(&words)))
}

/// Returns the statement that reads the numbers of the runs of a filter of threads whose threads the store does not
/// have, and then of those below them; without those of threads with open questions, if runs that wait stay. Nothing if it is not known which they are, because only some of the threads are meant.
pub(super) fn others<'a>(
    now: &str,
    namespace: &'a str,
    filter: &'a Filter,
    keeps_waiting: bool,
) -> Option<Statement<'a>> {
    let Filter { agent, thread, user, unused_for, is_cut_off, limit, .. } = filter;
    if *is_cut_off || limit.is_some() {
        return None;
    }
    let mut statement = Statement::new(
        "WITH RECURSIVE below (id, run) AS (
    SELECT r.id, r.run FROM run r WHERE",
    );
    statement.push_param(" r.namespace = ", namespace);
    for (column, name) in [("agent", agent), ("thread", thread), ("\"user\"", user)] {
        if let Some(name) = name {
            statement.push_param(&format!(" AND r.{column} = "), &**name);
        }
    }
    if let Some(time) = unused_for {
        let last = format!(" AND coalesce(r.ended, r.started) <= {now} - ");
        statement.push_param(&last, millis(*time));
        // A run of an age that is part of another one goes with that.
        statement.push(
            "
    AND NOT EXISTS (
        SELECT 1 FROM run p WHERE p.namespace = r.namespace AND p.run = r.parent)",
        );
    }
    if keeps_waiting {
        statement.push(
            "
    AND NOT EXISTS (
        SELECT 1 FROM thread h JOIN question q ON q.thread_id = h.id
        WHERE h.namespace = r.namespace AND h.agent = r.agent AND h.thread = r.thread
            AND q.closed = 0)",
        );
    }
    statement.push(
        " AND NOT EXISTS (
        SELECT 1 FROM thread t
        WHERE t.namespace = r.namespace AND t.agent = r.agent AND t.thread = r.thread",
    );
    if let Some(user) = user {
        statement.push_param(" AND t.\"user\" = ", &**user);
    }
    statement.push_param(
        ")
    UNION
    SELECT c.id, c.run FROM below b JOIN run c ON c.parent = b.run AND c.namespace = ",
        namespace,
    );
    statement.push(")\nSELECT b.id FROM below b");
    Some(statement)
}
