//! The statements of a store.

use crate::database::DatabaseError;
use crate::store::release::Releases;
use crate::store::runs::RunStatements;

/// The statements of a store in one database, with their parameters in this order.
///
/// Those of the first half differ in the expression of the time alone, and come from a macro.
pub trait Statements: RunStatements {
    /// How those who wait for a thread hear that it is released.
    type Releases: Releases;

    /// The time in milliseconds since 1970.
    const NOW: &'static str;

    /// The table of the elements of `v.body`, a JSON array.
    const ELEMENTS: &'static str;

    /// A thread with everything that a call reads, in one snapshot: the thread itself, then its messages,
    /// values, tool calls and questions. The first column says which, from 0.
    const LOAD: &'static str;

    /// The owner, the fencing number, the version and the last step of a thread.
    const OWNER: &'static str;

    /// The version of a thread by its name.
    const VERSION: &'static str;

    /// Removes a call from those that wait for a lease.
    const WAIT_NO_MORE: &'static str;

    /// Notes that a call waits for a lease, or that it still does.
    const WAIT: &'static str;

    /// Refuses the questions that have expired.
    const EXPIRE: &'static str;

    /// Stores one decision of a request.
    const DECIDE: &'static str;

    /// All messages of a thread.
    const HISTORY: &'static str;

    /// The values of a thread.
    const VALUES: &'static str;

    /// Begins a thread with the version and the next sequence number of an import. Returns no row
    /// if the thread has anything.
    const IMPORT: &'static str;

    /// Counts what a namespace has.
    const REPORT: &'static str;

    /// Grants a lease, if the thread is free, nobody waits for longer, and the claim allows it.
    const ACQUIRE: &'static str;

    /// A thread that a claim does not allow.
    const OTHER_USER: &'static str;

    /// Ends a lease, and says so if somebody waits for it.
    const RELEASE: &'static str;

    /// Ends the lease that a call asked for, if it was granted, and says so as a release does.
    const WITHDRAW: &'static str;

    /// Renews leases: a table of ids, owners and fencing numbers. Returns the ids and fencing numbers of those
    /// that are not lost.
    const RENEW: &'static str;

    /// Writes a step as one statement: all of it, or nothing if the lease or the version is another one.
    const COMMIT: &'static str;

    /// The questions of a list of ids, locked, with the time and the request that decided.
    const QUESTIONS: &'static str;

    /// Writes the messages of an import: a table of their numbers, places, versions that replaced them, and
    /// bodies.
    const IMPORT_MESSAGES: &'static str;

    /// Writes the values of an import: a table of names and bodies.
    const IMPORT_VALUES: &'static str;

    /// Remove the rows that calls no longer read, of a list of threads.
    const PRUNE: [&'static str; 3];

    /// The time of the database.
    const TIME: &'static str;

    /// Locks a list of names until the transaction ends, and returns the time of the database after that.
    const LOCK_QUOTAS: &'static str;

    /// What subjects have used of quotas, by a table of quotas, subjects, keys, begins of windows, and numbers by
    /// which the rows are in order: the sum, the oldest part of it, and what the key has reserved.
    const QUOTA_USED: &'static str;

    /// Writes reservations, unless their keys have reserved: a table of quotas, subjects, keys, amounts, and
    /// when they count no longer.
    const RESERVE: &'static str;

    /// Sets what was used: a table of quotas, subjects, keys and amounts.
    const SETTLE: &'static str;

    /// The sum of each subject of a quota since a time.
    const QUOTA_USES: &'static str;

    /// Removes what counts no longer.
    const PRUNE_QUOTAS: &'static str;

    /// Removes sums of nothing.
    const PRUNE_SUMS: &'static str;

    /// Locks a thread: its id, its user, whether a call owns it, and its version.
    const LOCK_THREAD: &'static str;

    /// Writes a message for the call that runs on a thread.
    const PUT_INTO_INBOX: &'static str;

    /// The messages of an inbox after a number, for the owner of the thread, and those before that have a text.
    const INBOX: &'static str;

    /// Removes the texts of the messages of an inbox up to a number.
    const TAKEN: &'static str;

    /// Writes an approval.
    const REMEMBER: &'static str;

    /// The approvals that may still answer, locked, the oldest first: a table of agents, tools and what is reached.
    const USABLE: &'static str;

    /// Sets how often an approval was used, and for how much.
    const USED: &'static str;

    /// Ends an approval.
    const REVOKE: &'static str;

    /// Removes the approvals for threads that there are no more.
    const FORGET_APPROVALS: &'static str;

    /// Removes the approvals for calls of a user, of an agent if one is given.
    const FORGET_APPROVALS_OF: &'static str;

    /// Removes the approvals that answer nothing any more.
    const PRUNE_APPROVALS: &'static str;

    /// Returns whether a [`COMMIT`](Self::COMMIT) wrote nothing.
    fn is_refused(written: &Result<Vec<Self::Row>, DatabaseError>) -> bool;
}

/// Whether a thread allows the claim of a user, or of none, who says something (0), goes on (1) or takes it
/// over (2).
macro_rules! claim_allows {
    ($user:literal, $may:literal) => {
        concat!(
            "(",
            $may,
            r#" = 2 OR CASE
    WHEN thread."user" IS NULL THEN "#,
            $user,
            r#" IS NULL OR thread.version = 0
    WHEN "#,
            $user,
            " IS NULL THEN ",
            $may,
            r#" = 1
    ELSE thread."user" = "#,
            $user,
            " END)"
        )
    };
}
pub(crate) use claim_allows;

/// The sums of quotas for the rows of a table `r`: those of the longest spans that begin in the window, of the shorter
/// ones before them, and of the uses before those. What the key of the row has is left out.
macro_rules! quota_used {
    ($rows:literal) => {
        concat!(
            "
SELECT (SELECT CASE WHEN sum(CAST(p.amount AS DOUBLE PRECISION)) > 9007199254740991.0
            THEN 9007199254740991 ELSE CAST(coalesce(sum(p.amount), 0) AS BIGINT) END
        FROM (
            SELECT s.amount FROM quota_sum s
            WHERE s.namespace = $1 AND s.quota = r.quota AND s.subject = r.subject AND s.level = 24
                AND s.bucket > r.since >> 24
            UNION ALL
            SELECT s.amount FROM quota_sum s
            WHERE s.namespace = $1 AND s.quota = r.quota AND s.subject = r.subject AND s.level = 17
                AND s.bucket > r.since >> 17 AND s.bucket < ((r.since >> 24) + 1) << 7
            UNION ALL
            SELECT s.amount FROM quota_sum s
            WHERE s.namespace = $1 AND s.quota = r.quota AND s.subject = r.subject AND s.level = 10
                AND s.bucket > r.since >> 10 AND s.bucket < ((r.since >> 17) + 1) << 7
            UNION ALL
            SELECT u.amount FROM quota_use u
            WHERE u.namespace = $1 AND u.quota = r.quota AND u.subject = r.subject
                AND u.at >= r.since AND u.at < ((r.since >> 10) + 1) << 10
            UNION ALL
            SELECT -u.amount FROM quota_use u
            WHERE u.namespace = $1 AND u.quota = r.quota AND u.subject = r.subject AND u.key = r.key
                AND u.at >= r.since
        ) AS p),
    (SELECT u.at FROM quota_use u
        WHERE u.namespace = $1 AND u.quota = r.quota AND u.subject = r.subject AND u.at >= r.since
            AND u.key <> r.key ORDER BY u.at LIMIT 1),
    (SELECT u.amount FROM quota_use u
        WHERE u.namespace = $1 AND u.quota = r.quota AND u.subject = r.subject AND u.key = r.key
            AND u.at >= r.since)
FROM ",
            $rows,
            " ORDER BY r.number"
        )
    };
}
pub(crate) use quota_used;

/// Writes the statements that differ in no more than the expression of the time in milliseconds since 1970,
/// and in the table of the elements of `v.body`, a JSON array.
macro_rules! statements {
    ($now:literal, $elements:literal) => {
        const NOW: &str = $now;

        const ELEMENTS: &str = $elements;

        const LOAD: &str = "
SELECT CAST(0 AS BIGINT) AS part, version AS a, next_seq AS b, fence AS c,
    owner AS name, state AS body, NULL AS x, NULL AS y
FROM thread WHERE id = $1 AND namespace = $2
UNION ALL SELECT 1, seq, place, NULL, NULL, body, NULL, NULL
FROM message WHERE thread_id = $1 AND archived IS NULL
UNION ALL SELECT 2, NULL, NULL, NULL, name, body, NULL, NULL
FROM value WHERE thread_id = $1
UNION ALL SELECT 3, NULL, NULL, NULL, key, body, NULL, NULL
FROM tool_call WHERE thread_id = $1 AND is_live = 1
UNION ALL SELECT 4, since, expires, decided_at, id, body, decision, decided_by
FROM question WHERE thread_id = $1 AND closed = 0";

        const TIME: &str = concat!("SELECT ", $now);

        const QUOTA_USES: &str = "SELECT subject,
    CASE WHEN sum(CAST(amount AS DOUBLE PRECISION)) > 9007199254740991.0
        THEN 9007199254740991 ELSE CAST(sum(amount) AS BIGINT) END FROM quota_use
WHERE namespace = $1 AND quota = $2 AND at >= $3 GROUP BY subject HAVING sum(amount) > 0";

        const PRUNE_QUOTAS: &str =
            concat!("DELETE FROM quota_use WHERE namespace = $1 AND expires <= ", $now);

        const PRUNE_SUMS: &str = "DELETE FROM quota_sum WHERE namespace = $1 AND amount = 0";

        const PUT_INTO_INBOX: &str = concat!(
            "INSERT INTO inbox (thread_id, seq, key, body, said_by, at)
SELECT $1, coalesce((SELECT max(i.seq) FROM inbox i WHERE i.thread_id = $1), 0) + 1, $2, $3, $4, ",
            $now,
            "
WHERE true ON CONFLICT (thread_id, key) DO NOTHING"
        );

        const INBOX: &str = "SELECT i.seq, i.body, i.said_by
FROM inbox i JOIN thread t ON t.id = i.thread_id
WHERE t.id = $1 AND t.owner = $2 AND t.fence = $3 AND (i.seq > $4 OR i.body <> '') ORDER BY i.seq";

        const TAKEN: &str = "UPDATE inbox SET body = '' WHERE seq <= $4 AND thread_id IN
    (SELECT t.id FROM thread t WHERE t.id = $1 AND t.owner = $2 AND t.fence = $3)";

        const REMEMBER: &str = r#"INSERT INTO approval (id, namespace, agent, thread, "user", tool, body,
    given_by, given_at, expires, most_uses, most_sum, scope)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"#;

        const USED: &str = "UPDATE approval SET uses = $3, sum = $4 WHERE namespace = $1 AND id = $2";

        const REVOKE: &str = concat!(
            "UPDATE approval SET revoked_by = $3, revoked_at = ",
            $now,
            " WHERE namespace = $1 AND id = $2 AND revoked_at IS NULL"
        );

        const FORGET_APPROVALS: &str = "DELETE FROM approval
WHERE namespace = $1 AND thread IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM thread t WHERE t.namespace = $1 AND t.agent = approval.agent
        AND t.thread = approval.thread)";

        const FORGET_APPROVALS_OF: &str = r#"DELETE FROM approval
WHERE namespace = $1 AND "user" = $2 AND (CAST($3 AS TEXT) IS NULL OR agent = $3)"#;

        const PRUNE_APPROVALS: &str = concat!(
            "DELETE FROM approval
WHERE namespace = $1 AND (revoked_at IS NOT NULL OR uses >= most_uses OR expires <= ",
            $now,
            ")"
        );

        const OWNER: &str =
            "SELECT owner, fence, version, last_step FROM thread WHERE id = $1 AND namespace = $2";

        const OTHER_USER: &str = concat!(
            "SELECT 1 FROM thread WHERE namespace = $1 AND agent = $2 AND thread = $3 AND NOT ",
            $crate::store::statements::claim_allows!("$4", "$5")
        );

        const VERSION: &str =
            "SELECT version FROM thread WHERE namespace = $1 AND agent = $2 AND thread = $3";

        const WAIT_NO_MORE: &str = "DELETE FROM lease_waiter
WHERE owner = $4 AND thread_id =
    (SELECT t.id FROM thread t WHERE t.namespace = $1 AND t.agent = $2 AND t.thread = $3)";

        const WAIT: &str = concat!(
            "INSERT INTO lease_waiter (thread_id, owner, ticket, until)
SELECT t.id, $4,
    coalesce((SELECT max(w.ticket) FROM lease_waiter w WHERE w.thread_id = t.id), 0) + 1,
    ",
            $now,
            " + $5
FROM thread t WHERE t.namespace = $1 AND t.agent = $2 AND t.thread = $3
ON CONFLICT (thread_id, owner) DO UPDATE SET until = excluded.until"
        );

        const EXPIRE: &str = concat!(
            "UPDATE question SET decision = $2, decided_by = $3, decided_at = ",
            $now,
            "
WHERE namespace = $1 AND closed = 0 AND decision IS NULL AND expires <= ",
            $now
        );

        const DECIDE: &str = "UPDATE question
SET decision = $2, decided_by = $3, decided_at = $4, request = $5 WHERE id = $1";

        const HISTORY: &str = "SELECT m.seq, m.place, m.archived, m.body
FROM thread t JOIN message m ON m.thread_id = t.id
WHERE t.namespace = $1 AND t.agent = $2 AND t.thread = $3 ORDER BY m.seq";

        const VALUES: &str = "SELECT v.name, v.body
FROM thread t JOIN value v ON v.thread_id = t.id
WHERE t.namespace = $1 AND t.agent = $2 AND t.thread = $3 ORDER BY v.name";

        const IMPORT: &str = concat!(
            r#"INSERT INTO thread
    (id, namespace, agent, thread, version, next_seq, "user", created, changed)
VALUES ($1, $2, $3, $4, $5, $6, $7, "#,
            $now,
            ", ",
            $now,
            r#")
ON CONFLICT (namespace, agent, thread) DO UPDATE
SET version = excluded.version, next_seq = excluded.next_seq, "user" = excluded."user",
    changed = excluded.changed
WHERE thread.version = 0
    AND NOT EXISTS (SELECT 1 FROM message m WHERE m.thread_id = thread.id)
RETURNING id"#
        );

        const REPORT: &str = concat!(
            "SELECT
    (SELECT count(*) FROM thread t WHERE t.namespace = $1
        AND (t.version > 0 OR (t.owner IS NOT NULL AND t.lease_until >= ",
            $now,
            "))),
    (SELECT count(*) FROM thread t WHERE t.namespace = $1 AND t.in_call = 1
        AND (t.owner IS NULL OR t.lease_until < ",
            $now,
            ")),
    (SELECT count(*) FROM message m JOIN thread t ON t.id = m.thread_id
        WHERE t.namespace = $1 AND m.archived IS NULL),
    (SELECT count(*) FROM message m JOIN thread t ON t.id = m.thread_id
        WHERE t.namespace = $1 AND m.archived IS NOT NULL),
    (SELECT count(*) FROM value v JOIN thread t ON t.id = v.thread_id WHERE t.namespace = $1),
    (SELECT count(*) FROM tool_call c JOIN thread t ON t.id = c.thread_id
        WHERE t.namespace = $1 AND c.state < 2),
    (SELECT count(*) FROM question q
        WHERE q.namespace = $1 AND q.closed = 0 AND q.decision IS NULL),
    (SELECT count(*) FROM question q
        WHERE q.namespace = $1 AND q.closed = 0 AND q.decision IS NOT NULL),
    (SELECT count(*) FROM question q WHERE q.namespace = $1 AND q.closed = 1),
    (SELECT ",
            $now,
            " - min(q.since) FROM question q
        WHERE q.namespace = $1 AND q.closed = 0 AND q.decision IS NULL),
    (SELECT count(*) FROM run r WHERE r.namespace = $1)"
        );
    };
}

pub(crate) use statements;
