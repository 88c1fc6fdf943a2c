
CREATE TRIGGER quota_use_made AFTER INSERT ON quota_use BEGIN
    INSERT INTO quota_sum (namespace, quota, subject, level, bucket, amount)
    SELECT NEW.namespace, NEW.quota, NEW.subject, l.level, NEW.at >> l.level, NEW.amount
    FROM (SELECT 10 AS level UNION ALL SELECT 17 UNION ALL SELECT 24) AS l WHERE true
    ON CONFLICT (namespace, quota, subject, level, bucket)
        DO UPDATE SET amount = quota_sum.amount + excluded.amount;
END;
CREATE TRIGGER quota_use_changed AFTER UPDATE ON quota_use BEGIN
    INSERT INTO quota_sum (namespace, quota, subject, level, bucket, amount)
    SELECT OLD.namespace, OLD.quota, OLD.subject, l.level, OLD.at >> l.level, -OLD.amount
    FROM (SELECT 10 AS level UNION ALL SELECT 17 UNION ALL SELECT 24) AS l WHERE true
    ON CONFLICT (namespace, quota, subject, level, bucket)
        DO UPDATE SET amount = quota_sum.amount + excluded.amount;
    INSERT INTO quota_sum (namespace, quota, subject, level, bucket, amount)
    SELECT NEW.namespace, NEW.quota, NEW.subject, l.level, NEW.at >> l.level, NEW.amount
    FROM (SELECT 10 AS level UNION ALL SELECT 17 UNION ALL SELECT 24) AS l WHERE true
    ON CONFLICT (namespace, quota, subject, level, bucket)
        DO UPDATE SET amount = quota_sum.amount + excluded.amount;
END;
CREATE TRIGGER quota_use_removed AFTER DELETE ON quota_use BEGIN
    INSERT INTO quota_sum (namespace, quota, subject, level, bucket, amount)
    SELECT OLD.namespace, OLD.quota, OLD.subject, l.level, OLD.at >> l.level, -OLD.amount
    FROM (SELECT 10 AS level UNION ALL SELECT 17 UNION ALL SELECT 24) AS l WHERE true
    ON CONFLICT (namespace, quota, subject, level, bucket)
        DO UPDATE SET amount = quota_sum.amount + excluded.amount;
END;
