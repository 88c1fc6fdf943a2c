//! Statements of SQLite. A list is a JSON array, a table an array of arrays.

use sqlx::Sqlite;
use sqlx::sqlite::SqliteRow;

use crate::database::DatabaseError;
use crate::store::sqlite::release::AskAgain;
use crate::store::statements::{Statements, claim_allows, quota_used, statements};

/// The code of a statement that a trigger refused.
const RAISED: &str = "1811";

impl Statements for Sqlite {
    type Releases = AskAgain;

    statements!("CAST(unixepoch('subsec') * 1000 AS INTEGER)", "json_each(v.body) AS s");

    const ACQUIRE: &str = concat!(
        "
INSERT INTO thread (id, namespace, agent, thread, owner, fence, lease_until, created, changed)
SELECT $1, $2, $3, $4, $5, 1, time.now + $6, time.now, time.now
FROM (SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now) AS time WHERE true
ON CONFLICT (namespace, agent, thread) DO UPDATE SET
    is_takeover = owner IS NOT NULL AND owner <> excluded.owner,
    owner = excluded.owner,
    fence = fence + 1,
    lease_until = excluded.lease_until
WHERE (owner IS NULL OR lease_until < excluded.created OR owner = excluded.owner)
    AND ",
        claim_allows!("$7", "$8"),
        "
    AND NOT EXISTS (
        SELECT 1 FROM lease_waiter w
        WHERE w.thread_id = thread.id AND w.owner <> excluded.owner AND w.until > excluded.created
            AND w.ticket < coalesce(
                (SELECT mine.ticket FROM lease_waiter mine
                    WHERE mine.thread_id = thread.id AND mine.owner = excluded.owner),
                9223372036854775807))
RETURNING id, fence, version, is_takeover, \"user\""
    );

    const RELEASE: &str = "UPDATE thread SET owner = NULL, lease_until = 0
WHERE id = $1 AND namespace = $2 AND owner = $3 AND fence = $4";

    const WITHDRAW: &str = "UPDATE thread SET owner = NULL, lease_until = 0
WHERE namespace = $1 AND agent = $2 AND thread = $3 AND owner = $4";

    const RENEW: &str = "
UPDATE thread SET lease_until = CAST(unixepoch('subsec') * 1000 AS INTEGER) + $2
FROM (SELECT value ->> 0 AS id, value ->> 1 AS owner, value ->> 2 AS fence FROM json_each($3)) l
WHERE thread.id = l.id AND thread.owner = l.owner AND thread.fence = l.fence
    AND thread.namespace = $1
RETURNING thread.id, thread.fence";

    const COMMIT: &str = r#"
INSERT INTO temp.step (id, namespace, owner, fence, version, next_seq, state, last_step, in_call, "user",
    releases, archived, messages, removed, kept, calls, asked, closed)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)"#;

    const QUESTIONS: &str = "
SELECT body, since, expires, decision, decided_by, decided_at, closed,
    CAST(unixepoch('subsec') * 1000 AS INTEGER), request
FROM question WHERE namespace = $1 AND id IN (SELECT value FROM json_each($2))";

    const IMPORT_MESSAGES: &str = "
INSERT INTO message (thread_id, seq, place, archived, body)
SELECT $1, value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each($2)";

    const IMPORT_VALUES: &str = "
INSERT INTO value (thread_id, name, body)
SELECT $1, value ->> 0, value ->> 1 FROM json_each($2)";

    const PRUNE: [&str; 3] = [
        "DELETE FROM message WHERE archived IS NOT NULL
    AND thread_id IN (SELECT value FROM json_each($1))",
        "DELETE FROM tool_call WHERE is_live = 0 AND thread_id IN (SELECT value FROM json_each($1))",
        "DELETE FROM question WHERE closed = 1 AND thread_id IN (SELECT value FROM json_each($1))",
    ];

    // A transaction that writes has the whole file.
    const LOCK_QUOTAS: &str =
        "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) WHERE $1 IS NOT NULL";

    const QUOTA_USED: &str = quota_used!(
        "(SELECT value ->> 0 AS quota, value ->> 1 AS subject, value ->> 2 AS key, value ->> 3 AS since,
        value ->> 4 AS number FROM json_each($2)) AS r"
    );

    const RESERVE: &str = "
INSERT INTO quota_use (namespace, quota, subject, key, amount, at, expires)
SELECT $1, value ->> 0, value ->> 1, value ->> 2, value ->> 3, $2, value ->> 4
FROM json_each($3) WHERE true
ON CONFLICT (namespace, quota, subject, key) DO UPDATE
    SET amount = excluded.amount, at = excluded.at, expires = excluded.expires";

    const SETTLE: &str = "
UPDATE quota_use SET amount = r.amount
FROM (SELECT value ->> 0 AS quota, value ->> 1 AS subject, value ->> 2 AS key, value ->> 3 AS amount
    FROM json_each($2)) AS r
WHERE quota_use.namespace = $1 AND quota_use.quota = r.quota AND quota_use.subject = r.subject
    AND quota_use.key = r.key";

    // A transaction that writes has the whole file.
    const LOCK_THREAD: &str = "
SELECT id, \"user\", CASE WHEN owner IS NOT NULL
        AND lease_until >= CAST(unixepoch('subsec') * 1000 AS INTEGER) THEN 1 ELSE 0 END, version
FROM thread WHERE namespace = $1 AND agent = $2 AND thread = $3";

    const USABLE: &str = "
SELECT a.body, a.uses, a.sum, a.revoked_by, a.revoked_at
FROM json_each($2) AS r CROSS JOIN approval a
WHERE a.namespace = $1 AND a.agent = r.value ->> 0 AND a.tool = r.value ->> 1
    AND a.scope = r.value ->> 2 AND a.revoked_at IS NULL AND a.uses < a.most_uses
    AND a.expires > CAST(unixepoch('subsec') * 1000 AS INTEGER)
ORDER BY a.given_at, a.id";

    fn is_refused(written: &Result<Vec<SqliteRow>, DatabaseError>) -> bool {
        written.as_ref().is_err_and(|error| error.code() == Some(RAISED))
    }
}
