-- A step as one statement: a row that is inserted into `step`. It is written as a whole or not at all,
-- also when whoever asked for it is gone. Lists are JSON arrays, NULL if they are empty.
--
-- What most steps do not have is written by a trigger of its own, which only a list that is there sets off:
-- an UPDATE, or an upsert, makes a table of its rows even where there are none.
CREATE TEMP VIEW step AS SELECT
    0 AS id, '' AS namespace, '' AS owner, 0 AS fence, 0 AS version, 0 AS next_seq, '' AS state,
    0 AS in_call, '' AS "user", 0 AS releases, '' AS archived, '' AS messages, '' AS removed,
    '' AS kept, '' AS calls, '' AS asked, '' AS closed, 0 AS last_step;

CREATE TEMP VIEW step_archived AS SELECT 0 AS id, 0 AS version, '' AS archived;

CREATE TEMP VIEW step_value AS SELECT 0 AS id, '' AS removed, '' AS kept;

CREATE TEMP VIEW step_question AS SELECT 0 AS id, '' AS namespace, '' AS asked, '' AS closed;

CREATE TEMP TRIGGER write_step INSTEAD OF INSERT ON step BEGIN
    UPDATE thread SET
        version = version + 1,
        next_seq = max(next_seq, NEW.next_seq),
        state = NEW.state,
        last_step = NEW.last_step,
        in_call = NEW.in_call,
        "user" = coalesce(NEW."user", "user"),
        owner = CASE WHEN NEW.releases THEN NULL ELSE owner END,
        lease_until = CASE WHEN NEW.releases THEN 0 ELSE lease_until END,
        changed = CAST(unixepoch('subsec') * 1000 AS INTEGER)
    WHERE id = NEW.id AND namespace = NEW.namespace AND owner = NEW.owner
        AND fence = NEW.fence AND version = NEW.version;
    SELECT RAISE(ABORT, 'refused') WHERE changes() = 0;

    INSERT INTO message (thread_id, seq, place, body)
    SELECT NEW.id, value ->> 0, value ->> 1, value ->> 2
    FROM json_each(NEW.messages) WHERE NEW.messages IS NOT NULL;

    INSERT INTO step_archived VALUES (NEW.id, NEW.version, NEW.archived);

    INSERT INTO step_value VALUES (NEW.id, NEW.removed, NEW.kept);

    INSERT INTO tool_call (thread_id, key, state, is_live, body, changed)
    SELECT NEW.id, value ->> 0, value ->> 1, value ->> 2, value ->> 3,
        CAST(unixepoch('subsec') * 1000 AS INTEGER)
    FROM json_each(NEW.calls) WHERE NEW.calls IS NOT NULL
    ON CONFLICT (thread_id, key) DO UPDATE SET state = excluded.state,
        is_live = excluded.is_live, body = excluded.body, changed = excluded.changed;

    INSERT INTO step_question VALUES (NEW.id, NEW.namespace, NEW.asked, NEW.closed);
END;

CREATE TEMP TRIGGER write_archived INSTEAD OF INSERT ON step_archived
WHEN NEW.archived IS NOT NULL BEGIN
    UPDATE message SET archived = NEW.version + 1
    WHERE thread_id = NEW.id AND archived IS NULL
        AND seq IN (SELECT value FROM json_each(NEW.archived));
END;

CREATE TEMP TRIGGER write_values INSTEAD OF INSERT ON step_value
WHEN coalesce(NEW.removed, NEW.kept) IS NOT NULL BEGIN
    DELETE FROM value
    WHERE thread_id = NEW.id AND name IN (SELECT value FROM json_each(NEW.removed));

    INSERT INTO value (thread_id, name, body)
    SELECT NEW.id, value ->> 0, value ->> 1 FROM json_each(NEW.kept) WHERE true
    ON CONFLICT (thread_id, name) DO UPDATE SET body = excluded.body;
END;

CREATE TEMP TRIGGER write_questions INSTEAD OF INSERT ON step_question
WHEN coalesce(NEW.asked, NEW.closed) IS NOT NULL BEGIN
    INSERT INTO question (id, thread_id, namespace, body, since, expires)
    SELECT value ->> 0, NEW.id, NEW.namespace, value ->> 1,
        CAST(unixepoch('subsec') * 1000 AS INTEGER),
        CAST(unixepoch('subsec') * 1000 AS INTEGER) + (value ->> 2)
    FROM json_each(NEW.asked);

    UPDATE question SET closed = 1
    WHERE thread_id = NEW.id AND id IN (SELECT value FROM json_each(NEW.closed));
END;

-- Who is granted a lease waits for it no longer.
CREATE TEMP TRIGGER lease_granted AFTER UPDATE OF fence ON main.thread BEGIN
    DELETE FROM lease_waiter WHERE thread_id = NEW.id
        AND (owner = NEW.owner OR until < CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
