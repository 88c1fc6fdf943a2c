//! The rows of entries.

use crate::builtin::knowledge::long_term_memory::error::MemoriesError;
use crate::builtin::knowledge::long_term_memory::remembered::Remembered;
use crate::builtin::knowledge::long_term_memory::words::{digest, words};

/// An entry as it is written. Names are bytes: no collation makes two of them the same, and each may have
/// NUL characters.
pub(in crate::builtin::knowledge::long_term_memory) struct NewRow {
    pub(in crate::builtin::knowledge::long_term_memory) id: Vec<u8>,
    pub(in crate::builtin::knowledge::long_term_memory) user: Vec<u8>,
    pub(in crate::builtin::knowledge::long_term_memory) digest: Vec<u8>,
    pub(in crate::builtin::knowledge::long_term_memory) thread: Option<Vec<u8>>,
    pub(in crate::builtin::knowledge::long_term_memory) made: i64,
    pub(in crate::builtin::knowledge::long_term_memory) body: String,
    pub(in crate::builtin::knowledge::long_term_memory) words: Vec<String>,
}

impl NewRow {
    pub(in crate::builtin::knowledge::long_term_memory) fn of(
        entry: &Remembered,
    ) -> Result<Self, MemoriesError> {
        let thread = entry.source.as_ref().map(|source| key_of(&source.thread));
        let body = serde_json::to_string(entry);
        Ok(Self {
            id: key_of(&entry.id),
            user: key_of(&entry.user),
            digest: digest(&entry.text).to_vec(),
            thread,
            made: signed(entry.at),
            body: body.map_err(|error| MemoriesError::Failed(error.into()))?,
            words: words(&entry.text),
        })
    }
}

/// Returns a name as the database has it.
pub(in crate::builtin::knowledge::long_term_memory) fn key_of(name: &str) -> Vec<u8> {
    name.as_bytes().to_vec()
}

/// Returns a number as the database has it.
pub(in crate::builtin::knowledge::long_term_memory) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Reads an entry of this user.
fn read(user: &str, body: &str) -> Result<Remembered, MemoriesError> {
    let entry: Remembered = serde_json::from_str(body)
        .map_err(|_| MemoriesError::Failed("an entry cannot be read".into()))?;
    if *entry.user == *user {
        Ok(entry)
    } else {
        Err(MemoriesError::Failed("an entry is of another user than its row".into()))
    }
}

/// Reads entries of this user.
pub(in crate::builtin::knowledge::long_term_memory) fn read_all(
    user: &str,
    bodies: &[String],
) -> Result<Vec<Remembered>, MemoriesError> {
    bodies.iter().map(|body| read(user, body)).collect()
}

/// Reads entries of this user that were removed, each with its time and its number, the oldest first.
pub(in crate::builtin::knowledge::long_term_memory) fn read_removed(
    user: &str,
    mut rows: Vec<(i64, i64, String)>,
) -> Result<Vec<Remembered>, MemoriesError> {
    rows.sort_unstable();
    rows.iter().map(|(.., body)| read(user, body)).collect()
}
