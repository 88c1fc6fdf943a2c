//! Statements that have a condition for each field of a filter that is set, and no other: a database
//! then chooses the index that fits.

use hooks_agent_core::store::{Filter, SUB_THREADS};

use crate::database::{Statement, millis, signed};
use crate::store::rows::approval::scopes_of;

/// The statements of one database.
pub(crate) struct Filters<'a> {
    /// The expression of the time.
    pub(crate) now: &'static str,
    /// The table of the elements of `v.body`, a JSON array.
    pub(crate) elements: &'static str,
    pub(crate) namespace: &'a str,
    pub(crate) filter: &'a Filter,
}

impl<'a> Filters<'a> {
    /// Returns whether nothing has a name of the filter, because none can be stored.
    pub(crate) fn is_of_nothing(&self) -> bool {
        let Filter { agent, thread, user, tool, reaches, .. } = self.filter;
        let reached = reaches.iter().flat_map(|(thread, user)| [Some(thread), user.as_ref()]);
        let names = [agent, thread, user, tool].map(Option::as_ref).into_iter().chain(reached);
        names.flatten().any(|name| name.contains('\0'))
    }

    /// Threads as a list shows them.
    pub(crate) fn threads(&self) -> Statement<'a> {
        let now = self.now;
        let mut statement = Statement::written(format!(
            "SELECT t.agent, t.thread, t.\"user\", t.version,
    (SELECT count(*) FROM message m WHERE m.thread_id = t.id AND m.archived IS NULL),
    (SELECT count(*) FROM question q
        WHERE q.thread_id = t.id AND q.closed = 0 AND q.decision IS NULL),
    t.in_call,
    CASE WHEN t.owner IS NOT NULL AND t.lease_until >= {now}
        THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) END,
    t.changed
FROM thread t
WHERE (t.version > 0 OR (t.owner IS NOT NULL AND t.lease_until >= {now}))"
        ));
        self.conditions(&mut statement);
        if let Some(after) = &self.filter.after_thread {
            statement.push_param(" AND (t.agent, t.thread) > (", after.agent());
            statement.push_param(", ", after.thread());
            statement.push(")");
        }
        let is_by_name = self.filter.is_by_name;
        statement.push(if is_by_name { "\nORDER BY t.agent, t.thread" } else { OLDEST });
        self.limit(statement)
    }

    /// Questions that are not closed, the oldest first.
    pub(crate) fn waiting(&self) -> Statement<'a> {
        let mut statement = Statement::new(
            "SELECT q.body, q.since, q.expires, q.decision, q.decided_by, q.decided_at, q.closed
FROM question q JOIN thread t ON t.id = q.thread_id
WHERE q.closed = 0",
        );
        statement.push_param(" AND q.namespace = ", self.namespace);
        self.conditions(&mut statement);
        let decided = if self.filter.is_decided { "NOT NULL" } else { "NULL" };
        statement.push(&format!("\n    AND q.decision IS {decided}"));
        if let Some((since, id)) = &self.filter.after_question {
            statement.push_param(" AND (q.since, q.id) > (", signed(*since));
            statement.push_param(", ", &**id);
            statement.push(")");
        }
        statement.push("\nORDER BY q.since, q.id");
        self.limit(statement)
    }

    /// Approvals, the oldest first.
    pub(crate) fn approvals(&self) -> Statement<'a> {
        let Filter { agent, thread, user, tool, is_usable, reaches, .. } = self.filter;
        let mut statement =
            Statement::new("SELECT body, uses, sum, revoked_by, revoked_at FROM approval WHERE");
        statement.push_param(" namespace = ", self.namespace);
        for (column, name) in
            [("agent", agent), ("thread", thread), ("\"user\"", user), ("tool", tool)]
        {
            if let Some(name) = name {
                statement.push_param(&format!(" AND {column} = "), &**name);
            }
        }
        if let Some((thread, user)) = reaches {
            let mut before = " AND scope IN (";
            for scope in scopes_of(thread, user.as_deref()) {
                statement.push_param(before, scope);
                before = ", ";
            }
            statement.push(")");
        }
        if *is_usable {
            let now = self.now;
            statement
                .push(&format!(" AND revoked_at IS NULL AND expires > {now} AND uses < most_uses"));
        }
        statement.push("\nORDER BY given_at, id");
        self.limit(statement)
    }

    /// Removes [`forgettable`](Self::forgettable) threads and returns their names. What belongs to them goes with
    /// them.
    pub(crate) fn forget(&self) -> Statement<'a> {
        let mut statement = self.free("DELETE FROM thread");
        statement.push("\nRETURNING agent, thread");
        statement
    }

    /// The names of threads that no call owns, with the threads of their sub-agents; those of which one is owned or
    /// too new stay, and do not count for the limit.
    pub(crate) fn forgettable(&self) -> Statement<'a> {
        self.free("SELECT agent, thread FROM thread")
    }

    /// Adds the condition of [`forgettable`](Self::forgettable) threads.
    fn free(&self, of_threads: &str) -> Statement<'a> {
        let Self { now, filter, .. } = self;
        let mut statement = Statement::written(format!(
            "{of_threads}
WHERE (owner IS NULL OR lease_until < {now}) AND id IN (
    WITH RECURSIVE root (id) AS (
    SELECT t.id FROM thread t
    WHERE (t.owner IS NULL OR t.lease_until < {now})"
        ));
        self.conditions(&mut statement);
        statement.push(&format!(
            "
    AND NOT EXISTS (
        WITH RECURSIVE part (id, stays) AS (
        SELECT t.id, 0
        UNION
        SELECT c.id, CASE WHEN c.owner IS NOT NULL AND c.lease_until >= {now}"
        ));
        if let Some(time) = filter.unused_for {
            statement.push_param(&format!(" OR c.changed > {now} - "), millis(time));
        }
        statement.push(" THEN 1 ELSE 0 END");
        self.sub_threads(&mut statement, "part");
        statement.push(
            ")
        SELECT 1 FROM part WHERE part.stays = 1)",
        );
        if filter.limit.is_some() {
            statement.push(OLDEST);
        }
        let mut statement = self.limit(statement);
        statement.push(
            "), below (id) AS (
    SELECT r.id FROM root r
    UNION
    SELECT c.id",
        );
        self.sub_threads(&mut statement, "below");
        statement.push(
            ")
    SELECT b.id FROM below b)",
        );
        statement
    }

    /// Adds the tables that lead from the threads of a table, named `b`, to those of their sub-agents,
    /// named `c`.
    fn sub_threads(&self, statement: &mut Statement<'a>, table: &str) {
        let elements = self.elements;
        statement.push(&format!(
            "
    FROM {table} b
    JOIN value v ON v.thread_id = b.id AND v.name = '{SUB_THREADS}'
    CROSS JOIN {elements}
    JOIN thread c ON c.agent = s.value ->> 'agent' AND c.thread = s.value ->> 'thread'"
        ));
        statement.push_param(" AND c.namespace = ", self.namespace);
    }

    /// The ids of threads that have history, their names, and whether their runs stay because one waits.
    pub(crate) fn prunable(&self) -> Statement<'a> {
        let mut statement = Statement::new(
            "SELECT t.id, t.agent, t.thread,
    CASE WHEN EXISTS (SELECT 1 FROM question q WHERE q.thread_id = t.id AND q.closed = 0)
        THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) END
FROM thread t
WHERE (EXISTS (SELECT 1 FROM message m WHERE m.thread_id = t.id AND m.archived IS NOT NULL)
    OR EXISTS (SELECT 1 FROM tool_call c WHERE c.thread_id = t.id AND c.is_live = 0)
    OR EXISTS (SELECT 1 FROM question q WHERE q.thread_id = t.id AND q.closed = 1)
    OR EXISTS (SELECT 1 FROM run r
        WHERE r.namespace = t.namespace AND r.agent = t.agent AND r.thread = t.thread
            AND NOT EXISTS (
                SELECT 1 FROM question q WHERE q.thread_id = t.id AND q.closed = 0)))",
        );
        self.conditions(&mut statement);
        statement.push(OLDEST);
        self.limit(statement)
    }

    /// Adds the conditions that threads meet.
    fn conditions(&self, statement: &mut Statement<'a>) {
        let Filter { agent, thread, user, unused_for, is_cut_off, .. } = self.filter;
        let now = self.now;
        statement.push_param("\n    AND t.namespace = ", self.namespace);
        for (column, name) in [("agent", agent), ("thread", thread), ("\"user\"", user)] {
            if let Some(name) = name {
                statement.push_param(&format!(" AND t.{column} = "), &**name);
            }
        }
        if let Some(time) = unused_for {
            statement.push_param(&format!(" AND t.changed <= {now} - "), millis(*time));
        }
        if *is_cut_off {
            let nobody = format!("(t.owner IS NULL OR t.lease_until < {now})");
            statement.push(&format!(" AND t.in_call = 1 AND {nobody}"));
        }
    }

    fn limit(&self, mut statement: Statement<'a>) -> Statement<'a> {
        if let Some(limit) = self.filter.limit {
            statement.push_param(" LIMIT ", i64::from(limit));
        }
        statement
    }
}

const OLDEST: &str = "\nORDER BY t.changed, t.id";
