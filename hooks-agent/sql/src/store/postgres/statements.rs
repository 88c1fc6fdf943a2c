//! Statements of PostgreSQL. A list is an array, a table an array for each column.

use sqlx::Postgres;
use sqlx::postgres::PgRow;

use crate::database::DatabaseError;
use crate::store::postgres::listen::Listener;
use crate::store::statements::{Statements, claim_allows, quota_used, statements};

impl Statements for Postgres {
    type Releases = Listener;

    statements!(
        "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)",
        "jsonb_array_elements(CAST(v.body AS jsonb)) AS s (value)"
    );

    const ACQUIRE: &str = concat!(
        "
WITH granted AS (
    INSERT INTO thread (id, namespace, agent, thread, owner, fence, lease_until, created, changed)
    SELECT $1, $2, $3, $4, $5, 1, time.now + $6, time.now, time.now
    FROM (SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS now OFFSET 0) AS time
    ON CONFLICT (namespace, agent, thread) DO UPDATE SET
        is_takeover = CASE
            WHEN thread.owner IS NOT NULL AND thread.owner <> excluded.owner THEN 1 ELSE 0 END,
        owner = excluded.owner,
        fence = thread.fence + 1,
        lease_until = excluded.lease_until
    WHERE (thread.owner IS NULL OR thread.lease_until < excluded.created
            OR thread.owner = excluded.owner)
        AND ",
        claim_allows!("$7", "$8"),
        "
        AND NOT EXISTS (
            SELECT 1 FROM lease_waiter w
            WHERE w.thread_id = thread.id AND w.owner <> excluded.owner
                AND w.until > excluded.created
                AND w.ticket < coalesce(
                    (SELECT mine.ticket FROM lease_waiter mine
                        WHERE mine.thread_id = thread.id AND mine.owner = excluded.owner),
                    9223372036854775807))
    RETURNING id, fence, version, is_takeover, \"user\", created
), gone AS (
    DELETE FROM lease_waiter w USING granted g
    WHERE w.thread_id = g.id AND (w.owner = $5
        OR w.until < CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT))
)
SELECT id, fence, version, is_takeover, \"user\" FROM granted"
    );

    const RELEASE: &str = "
WITH released AS (
    UPDATE thread SET owner = NULL, lease_until = 0
    WHERE id = $1 AND namespace = $2 AND owner = $3 AND fence = $4 RETURNING id
)
SELECT CAST(pg_notify($5, $6) AS TEXT) FROM released r
WHERE EXISTS (
    SELECT 1 FROM lease_waiter w WHERE w.thread_id = r.id
        AND w.until > CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT))";

    const WITHDRAW: &str = "
WITH released AS (
    UPDATE thread SET owner = NULL, lease_until = 0
    WHERE namespace = $1 AND agent = $2 AND thread = $3 AND owner = $4 RETURNING id
)
SELECT CAST(pg_notify($5, $6) AS TEXT) FROM released r
WHERE EXISTS (
    SELECT 1 FROM lease_waiter w WHERE w.thread_id = r.id AND w.owner <> $4
        AND w.until > CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT))";

    const RENEW: &str = "
UPDATE thread SET
    lease_until = CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) + $2
FROM unnest($3::bigint[], $4::text[], $5::bigint[]) AS l (id, owner, fence)
WHERE thread.id = l.id AND thread.owner = l.owner AND thread.fence = l.fence
    AND thread.namespace = $1
RETURNING thread.id, thread.fence";

    const COMMIT: &str = r#"
WITH step AS (
    UPDATE thread SET
        version = version + 1,
        next_seq = greatest(next_seq, $6),
        state = $7,
        last_step = $8,
        in_call = $9,
        "user" = coalesce($10, "user"),
        owner = CASE WHEN $11 = 1 THEN NULL ELSE owner END,
        lease_until = CASE WHEN $11 = 1 THEN 0 ELSE lease_until END,
        changed = CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)
    WHERE id = $1 AND namespace = $2 AND owner = $3 AND fence = $4 AND version = $5
    RETURNING id, namespace, version, changed
), archived AS (
    UPDATE message m SET archived = s.version FROM step s
    WHERE m.thread_id = s.id AND m.seq = ANY($12) AND m.archived IS NULL
), written AS (
    INSERT INTO message (thread_id, seq, place, archived, body)
    SELECT s.id, m.seq, m.place, CASE WHEN m.seq = ANY($12) THEN s.version END, m.body
    FROM step s, unnest($13::bigint[], $14::bigint[], $15::text[]) AS m (seq, place, body)
), removed AS (
    DELETE FROM value v USING step s WHERE v.thread_id = s.id AND v.name = ANY($16)
), kept AS (
    INSERT INTO value (thread_id, name, body)
    SELECT s.id, v.name, v.body FROM step s, unnest($17::text[], $18::text[]) AS v (name, body)
    ON CONFLICT (thread_id, name) DO UPDATE SET body = excluded.body
), called AS (
    INSERT INTO tool_call (thread_id, key, state, is_live, body, changed)
    SELECT s.id, c.key, c.state, c.is_live, c.body, s.changed
    FROM step s, unnest($19::text[], $20::bigint[], $21::bigint[], $22::text[])
        AS c (key, state, is_live, body)
    ON CONFLICT (thread_id, key) DO UPDATE SET state = excluded.state,
        is_live = excluded.is_live, body = excluded.body, changed = excluded.changed
), asked AS (
    INSERT INTO question (id, thread_id, namespace, body, since, expires, closed)
    SELECT q.id, s.id, s.namespace, q.body, s.changed, s.changed + q.expires,
        CASE WHEN q.id = ANY($26) THEN 1 ELSE 0 END
    FROM step s, unnest($23::text[], $24::text[], $25::bigint[]) AS q (id, body, expires)
), closed AS (
    UPDATE question q SET closed = 1 FROM step s WHERE q.thread_id = s.id AND q.id = ANY($26)
)
SELECT CASE WHEN $11 = 1 AND EXISTS (
    SELECT 1 FROM lease_waiter w WHERE w.thread_id = s.id AND w.until > s.changed
) THEN CAST(pg_notify($27, $28) AS TEXT) END
FROM step s"#;

    const QUESTIONS: &str = "
SELECT body, since, expires, decision, decided_by, decided_at, closed,
    CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT), request
FROM question WHERE namespace = $1 AND id = ANY($2) ORDER BY id FOR UPDATE";

    const IMPORT_MESSAGES: &str = "
INSERT INTO message (thread_id, seq, place, archived, body)
SELECT $1, m.seq, m.place, m.archived, m.body
FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[]) AS m (seq, place, archived, body)";

    const IMPORT_VALUES: &str = "
INSERT INTO value (thread_id, name, body)
SELECT $1, v.name, v.body FROM unnest($2::text[], $3::text[]) AS v (name, body)";

    const PRUNE: [&str; 3] = [
        "DELETE FROM message WHERE archived IS NOT NULL AND thread_id = ANY($1)",
        "DELETE FROM tool_call WHERE is_live = 0 AND thread_id = ANY($1)",
        "DELETE FROM question WHERE closed = 1 AND thread_id = ANY($1)",
    ];

    // In the order of the locks, so that two transactions do not wait for each other.
    const LOCK_QUOTAS: &str = "
SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) FROM (
    SELECT count(*) FROM (
        SELECT pg_advisory_xact_lock(k.lock) FROM (
            SELECT DISTINCT hashtextextended(current_schema() || chr(1) || n.name, 0) AS lock
            FROM unnest($1::text[]) AS n (name) ORDER BY 1 OFFSET 0
        ) AS k OFFSET 0
    ) AS locked
) AS done";

    const QUOTA_USED: &str = quota_used!(
        "unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
    AS r (quota, subject, key, since, number)"
    );

    const RESERVE: &str = "
INSERT INTO quota_use (namespace, quota, subject, key, amount, at, expires)
SELECT $1, r.quota, r.subject, r.key, r.amount, $2, r.expires
FROM unnest($3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[])
    AS r (quota, subject, key, amount, expires)
ON CONFLICT (namespace, quota, subject, key) DO UPDATE
    SET amount = excluded.amount, at = excluded.at, expires = excluded.expires";

    const SETTLE: &str = "
UPDATE quota_use u SET amount = r.amount
FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[]) AS r (quota, subject, key, amount)
WHERE u.namespace = $1 AND u.quota = r.quota AND u.subject = r.subject AND u.key = r.key";

    const LOCK_THREAD: &str = "
SELECT id, \"user\", CAST(CASE WHEN owner IS NOT NULL
        AND lease_until >= CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)
    THEN 1 ELSE 0 END AS BIGINT), version
FROM thread WHERE namespace = $1 AND agent = $2 AND thread = $3 FOR UPDATE";

    const USABLE: &str = "
SELECT a.body, a.uses, a.sum, a.revoked_by, a.revoked_at
FROM unnest($2::text[], $3::text[], $4::text[]) AS r (agent, tool, scope)
JOIN approval a ON a.namespace = $1 AND a.agent = r.agent AND a.tool = r.tool AND a.scope = r.scope
WHERE a.revoked_at IS NULL AND a.uses < a.most_uses
    AND a.expires > CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)
ORDER BY a.given_at, a.id FOR UPDATE OF a";

    fn is_refused(written: &Result<Vec<PgRow>, DatabaseError>) -> bool {
        written.as_ref().is_ok_and(Vec::is_empty)
    }
}
