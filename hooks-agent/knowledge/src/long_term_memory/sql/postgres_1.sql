-- Times are milliseconds since 1970. Names of users, ids and threads are bytes.
CREATE TABLE memory_entry (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_key BYTEA NOT NULL,
    id BYTEA NOT NULL,
    digest BYTEA NOT NULL,
    thread BYTEA,
    made BIGINT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (user_key, id),
    UNIQUE (user_key, digest)
);
CREATE INDEX memory_entry_made ON memory_entry (user_key, made);

CREATE TABLE memory_word (
    user_key BYTEA NOT NULL,
    word TEXT NOT NULL,
    entry BIGINT NOT NULL REFERENCES memory_entry (number) ON DELETE CASCADE,
    PRIMARY KEY (user_key, word, entry)
);
CREATE INDEX memory_word_entry ON memory_word (entry);

CREATE TABLE memory_version (version BIGINT NOT NULL);
INSERT INTO memory_version VALUES (1);
