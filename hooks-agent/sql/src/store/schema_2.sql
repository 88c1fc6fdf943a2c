-- A thread is found by its id, also without the name of its agent.
CREATE INDEX thread_id_name ON thread (namespace, thread);

-- Threads in a call: those that were cut off are among them. A call enters it once and leaves it once.
CREATE INDEX thread_in_call ON thread (namespace, id) WHERE in_call = 1;

-- What can be pruned.
CREATE INDEX message_archived ON message (thread_id) WHERE archived IS NOT NULL;

-- The number of the request that decided: one that is repeated, because its answer was lost, is known.
ALTER TABLE question ADD COLUMN request BIGINT;
