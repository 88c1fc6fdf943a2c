-- What an approval reaches to: `all`, `user` or `thread` and its name. An answer reads no rows of others. One of
-- before is found at least where it reaches to.
ALTER TABLE approval ADD COLUMN scope TEXT NOT NULL DEFAULT 'all';
UPDATE approval SET scope = CASE
    WHEN thread IS NOT NULL THEN 'thread ' || thread
    WHEN "user" IS NULL OR body LIKE '%"reach":"always"%' THEN 'all'
    ELSE 'user ' || "user"
END;
DROP INDEX approval_tool;
CREATE INDEX approval_reach ON approval (namespace, agent, tool, scope) WHERE revoked_at IS NULL;

-- Sums of `quota_use`, which triggers keep, so that a sum of a window reads few rows: of each `level` those of spans of
-- 2^level milliseconds, of which `bucket` is the number since 1970.
CREATE TABLE quota_sum (
    namespace TEXT NOT NULL,
    quota TEXT NOT NULL,
    subject TEXT NOT NULL,
    level BIGINT NOT NULL,
    bucket BIGINT NOT NULL,
    amount NUMERIC NOT NULL,
    PRIMARY KEY (namespace, quota, subject, level, bucket)
);
INSERT INTO quota_sum (namespace, quota, subject, level, bucket, amount)
SELECT u.namespace, u.quota, u.subject, l.level, u.at >> l.level, sum(u.amount)
FROM quota_use u CROSS JOIN (SELECT 10 AS level UNION ALL SELECT 17 UNION ALL SELECT 24) AS l
GROUP BY u.namespace, u.quota, u.subject, l.level, u.at >> l.level;
DROP INDEX quota_use_window;
CREATE INDEX quota_use_window ON quota_use (namespace, quota, subject, at);
