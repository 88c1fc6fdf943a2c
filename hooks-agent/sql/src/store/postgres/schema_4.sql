
CREATE FUNCTION quota_use_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO quota_sum (namespace, quota, subject, level, bucket, amount)
    SELECT r.namespace, r.quota, r.subject, l.level, r.at >> l.level, sum(r.amount)
    FROM (SELECT namespace, quota, subject, at, amount FROM made) AS r
    CROSS JOIN (SELECT 10 AS level UNION ALL SELECT 17 UNION ALL SELECT 24) AS l
    GROUP BY r.namespace, r.quota, r.subject, l.level, r.at >> l.level
    HAVING sum(r.amount) <> 0
    ORDER BY r.namespace, r.quota, r.subject, l.level, r.at >> l.level
    ON CONFLICT (namespace, quota, subject, level, bucket)
        DO UPDATE SET amount = quota_sum.amount + excluded.amount;
    RETURN NULL;
END $$;
CREATE TRIGGER quota_use_made AFTER INSERT ON quota_use
    REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION quota_use_made();
CREATE FUNCTION quota_use_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO quota_sum (namespace, quota, subject, level, bucket, amount)
    SELECT r.namespace, r.quota, r.subject, l.level, r.at >> l.level, sum(r.amount)
    FROM (SELECT namespace, quota, subject, at, amount FROM made
        UNION ALL SELECT namespace, quota, subject, at, -amount AS amount FROM gone) AS r
    CROSS JOIN (SELECT 10 AS level UNION ALL SELECT 17 UNION ALL SELECT 24) AS l
    GROUP BY r.namespace, r.quota, r.subject, l.level, r.at >> l.level
    HAVING sum(r.amount) <> 0
    ORDER BY r.namespace, r.quota, r.subject, l.level, r.at >> l.level
    ON CONFLICT (namespace, quota, subject, level, bucket)
        DO UPDATE SET amount = quota_sum.amount + excluded.amount;
    RETURN NULL;
END $$;
CREATE TRIGGER quota_use_changed AFTER UPDATE ON quota_use
    REFERENCING NEW TABLE AS made OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION quota_use_changed();
CREATE FUNCTION quota_use_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO quota_sum (namespace, quota, subject, level, bucket, amount)
    SELECT r.namespace, r.quota, r.subject, l.level, r.at >> l.level, sum(r.amount)
    FROM (SELECT namespace, quota, subject, at, -amount AS amount FROM gone) AS r
    CROSS JOIN (SELECT 10 AS level UNION ALL SELECT 17 UNION ALL SELECT 24) AS l
    GROUP BY r.namespace, r.quota, r.subject, l.level, r.at >> l.level
    HAVING sum(r.amount) <> 0
    ORDER BY r.namespace, r.quota, r.subject, l.level, r.at >> l.level
    ON CONFLICT (namespace, quota, subject, level, bucket)
        DO UPDATE SET amount = quota_sum.amount + excluded.amount;
    RETURN NULL;
END $$;
CREATE TRIGGER quota_use_removed AFTER DELETE ON quota_use
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION quota_use_removed();
