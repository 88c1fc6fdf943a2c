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
