//! The statements. Each that reads or removes has the user as its first value.

/// Declares the statements of a database: how a list of words is a table, and how a word is in it.
macro_rules! statements {
    ($words:literal, $has_word:literal) => {
        /// Writes an entry, unless the user has its id or its text.
        pub(super) const INSERT: &str = "
INSERT INTO memory_entry (user_key, id, digest, thread, made, body) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT DO NOTHING RETURNING number";

        /// Writes the words of an entry.
        pub(super) const INSERT_WORDS: &str = concat!(
            "INSERT INTO memory_word (user_key, word, entry) SELECT $1, words.value, $2 FROM ",
            $words
        );

        /// Removes the oldest entries beyond a number.
        pub(super) const REMOVE_OLDEST: &str = "
DELETE FROM memory_entry WHERE user_key = $1 AND number IN (
    SELECT number FROM memory_entry WHERE user_key = $1
    ORDER BY made DESC, number DESC LIMIT 9223372036854775807 OFFSET $2)
RETURNING made, number, body";

        /// The entries that share words, those with rare words first; then the latest.
        pub(super) const SEARCH: &str = concat!(
            "
WITH found AS (
    SELECT word, entry FROM memory_word WHERE user_key = $1 AND ",
            $has_word,
            "
), weight AS (
    SELECT word, 1000000 / count(*) AS weight FROM found GROUP BY word
), score AS (
    SELECT f.entry, sum(w.weight) AS score FROM found f JOIN weight w ON w.word = f.word
    GROUP BY f.entry
)
SELECT e.body FROM memory_entry e LEFT JOIN score s ON s.entry = e.number
WHERE e.user_key = $1
ORDER BY coalesce(s.score, 0) DESC, e.made DESC, e.number DESC LIMIT $3"
        );

        /// The entries of a user, the oldest first.
        pub(super) const LIST: &str =
            "SELECT body FROM memory_entry WHERE user_key = $1 ORDER BY made, number";

        pub(super) const FORGET_ALL: &str = "DELETE FROM memory_entry WHERE user_key = $1";

        pub(super) const FORGET_ID: &str =
            "DELETE FROM memory_entry WHERE user_key = $1 AND id = $2";

        pub(super) const FORGET_THREAD: &str =
            "DELETE FROM memory_entry WHERE user_key = $1 AND thread = $2";

        pub(super) const FORGET_TIME: &str =
            "DELETE FROM memory_entry WHERE user_key = $1 AND made BETWEEN $2 AND $3";
    };
}

pub(in crate::builtin::knowledge::long_term_memory) use statements;
