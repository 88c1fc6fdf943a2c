//! The statements of memories.

use hooks_agent_sql::database::{Dialect, Statement};

/// The statements of memories in one database. Each that reads or removes has the user as its first
/// parameter.
pub trait Statements: Dialect {
    /// Writes an entry, unless the user has its id or its text.
    const INSERT: &'static str;

    /// Writes the words of an entry.
    const INSERT_WORDS: &'static str;

    /// Removes the oldest entries beyond a number.
    const REMOVE_OLDEST: &'static str;

    /// The entries that share words, those with rare words first; then the latest.
    const SEARCH: &'static str;

    /// The entries of a user, the oldest first.
    const LIST: &'static str;

    /// Removes the entries of a user.
    const FORGET_ALL: &'static str;

    /// Removes the entry of an id.
    const FORGET_ID: &'static str;

    /// Removes the entries of a thread.
    const FORGET_THREAD: &'static str;

    /// Removes the entries of a time.
    const FORGET_TIME: &'static str;

    /// Returns the statement that lets one transaction at a time add entries of a user: two that do not see
    /// each other's entries would leave more than the limit. None if transactions that write take turns.
    fn lock(user: &str) -> Option<Statement<'static>>;
}

/// Writes the statements: how a list of words is a table, and how a word is in it.
macro_rules! statements {
    ($words:literal, $has_word:literal) => {
        const INSERT: &str = "
INSERT INTO memory_entry (user_key, id, digest, thread, made, body) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT DO NOTHING RETURNING number";

        const INSERT_WORDS: &str = concat!(
            "INSERT INTO memory_word (user_key, word, entry) SELECT $1, words.value, $2 FROM ",
            $words
        );

        const REMOVE_OLDEST: &str = "
DELETE FROM memory_entry WHERE user_key = $1 AND number IN (
    SELECT number FROM memory_entry WHERE user_key = $1
    ORDER BY made DESC, number DESC LIMIT 9223372036854775807 OFFSET $2)
RETURNING made, number, body";

        const SEARCH: &str = concat!(
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

        const LIST: &str =
            "SELECT body FROM memory_entry WHERE user_key = $1 ORDER BY made, number";

        const FORGET_ALL: &str = "DELETE FROM memory_entry WHERE user_key = $1";

        const FORGET_ID: &str =
            "DELETE FROM memory_entry WHERE user_key = $1 AND id = $2";

        const FORGET_THREAD: &str =
            "DELETE FROM memory_entry WHERE user_key = $1 AND thread = $2";

        const FORGET_TIME: &str =
            "DELETE FROM memory_entry WHERE user_key = $1 AND made BETWEEN $2 AND $3";
    };
}

pub(super) use statements;
