//! The rows of entries.

use hooks_agent_sql::database::{Columns, signed};

use crate::long_term_memory::error::MemoriesError;
use crate::long_term_memory::remembered::Remembered;
use crate::long_term_memory::words::{digest, words};

/// An entry as it is written. Names are bytes: no collation makes two of them the same, and each may have
/// NUL characters.
pub(super) struct NewRow<'a> {
    pub(super) id: &'a [u8],
    pub(super) user: &'a [u8],
    pub(super) digest: [u8; 32],
    pub(super) thread: Option<&'a [u8]>,
    pub(super) made: i64,
    pub(super) body: String,
    pub(super) words: Vec<String>,
}

impl<'a> NewRow<'a> {
    pub(super) fn of(entry: &'a Remembered) -> Result<Self, MemoriesError> {
        let body = serde_json::to_string(entry);
        Ok(Self {
            id: entry.id.as_bytes(),
            user: entry.user.as_bytes(),
            digest: digest(&entry.text),
            thread: entry.source.as_ref().map(|source| source.thread.as_bytes()),
            made: signed(entry.at),
            body: body.map_err(|error| MemoriesError::Failed(error.into()))?,
            words: words(&entry.text),
        })
    }
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

/// Reads the entries of this user, each in the first column of a row.
pub(super) fn entries(user: &str, rows: &[impl Columns]) -> Result<Vec<Remembered>, MemoriesError> {
    rows.iter().map(|row| read(user, &row.text(0)?)).collect()
}

/// Reads entries of this user that were removed, each with its time and its number, the oldest first.
pub(super) fn removed_entries(
    user: &str,
    rows: &[impl Columns],
) -> Result<Vec<Remembered>, MemoriesError> {
    let mut removed = Vec::with_capacity(rows.len());
    for row in rows {
        removed.push((row.int(0)?, row.int(1)?, row.text(2)?));
    }
    removed.sort_unstable();
    removed.iter().map(|(.., body)| read(user, body)).collect()
}
