//! Reads a thread from lines of JSON.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::error::Category;
use tokio::io::{AsyncBufRead, AsyncBufReadExt};

use crate::error::InputError;
use crate::message::{Messages, Msg};
use crate::store::operations::export::{Header, VERSION, live_messages};
use crate::store::{HistoryRow, ImportError, Store, StoreError, ThreadKey};

/// Reads the lines of an [`export`](crate::store::export) and writes them to a store as one thread, at
/// once. Returns its name.
///
/// The thread has the messages, also those that were replaced, the values and the user of the export.
/// A [`MemoryStore`](crate::thread::MemoryStore) keeps neither replaced messages, nor users, nor fields
/// that this program does not know.
///
/// Tool calls of the last answer may lack a result: they wait, as after a call that was stopped.
///
/// # Errors
/// [`ImportError`]: a line that is cut off or invalid, with its number; an export of a newer program;
/// messages that are no [valid history](InputError::check_history); [`StoreError::Conflict`] if there is
/// such a thread. Nothing is written then.
pub async fn import(
    store: &dyn Store,
    reader: impl AsyncBufRead + Unpin + Send,
) -> Result<ThreadKey, ImportError> {
    let mut lines = Lines { reader, number: 0 };
    let header = header(&mut lines).await?;
    let key = ThreadKey::new(header.agent, header.thread).map_err(StoreError::from)?;
    let mut rows = Vec::new();
    let mut seen = HashSet::new();
    while let Some(line) = lines.next().await? {
        let row: HistoryRow = lines.parse(&line)?;
        if Msg::deserialize(&row.message).is_err() {
            return Err(lines.error("has no message that this program knows"));
        }
        if [row.seq, row.place].iter().any(|number| i64::try_from(*number).is_err()) {
            return Err(lines.error("has a number that is too large"));
        }
        if !seen.insert(row.seq) {
            return Err(lines.error("has the number of an earlier message"));
        }
        rows.push(row);
    }
    let found = rows.len() as u64;
    if let Some(expected) = header.rows.filter(|expected| *expected != found) {
        return Err(ImportError::Truncated { found, expected });
    }
    let messages = Messages::from(live_messages(&key, &rows)?);
    InputError::check_history(&messages).map_err(ImportError::History)?;
    let user: Option<Arc<str>> = header.user.map(Into::into);
    store.import(&key, rows, header.values, user).await?;
    Ok(key)
}

/// Reads the first line. Its version comes first: a newer one may have other fields.
async fn header(lines: &mut Lines<impl AsyncBufRead + Unpin>) -> Result<Header, ImportError> {
    let Some(line) = lines.next().await? else {
        lines.number = 1;
        return Err(lines.error("is missing"));
    };
    let value: Value = lines.parse(&line)?;
    match value.get("v").and_then(Value::as_u64) {
        None => return Err(lines.error("is not the first one of an export")),
        Some(found) if found > VERSION => {
            return Err(ImportError::Newer { found, known: VERSION });
        }
        Some(_) => {}
    }
    lines.parse(&line)
}

/// The lines of an export.
struct Lines<R> {
    reader: R,
    /// The number of the line that was read last.
    number: u64,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, ImportError> {
        let mut line = Vec::new();
        self.reader.read_until(b'\n', &mut line).await.map_err(ImportError::Read)?;
        if line.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        match line.pop() {
            Some(b'\n') => Ok(Some(line)),
            _ => Err(self.error("is cut off: it does not end")),
        }
    }

    /// The error of the JSON may quote the line: only its place is kept.
    fn parse<T: DeserializeOwned>(&self, line: &[u8]) -> Result<T, ImportError> {
        serde_json::from_slice(line).map_err(|error| {
            let column = error.column();
            self.error(&match error.classify() {
                Category::Data => format!("is not what is expected, at column {column}"),
                _ => format!("is no JSON, at column {column}"),
            })
        })
    }

    fn error(&self, reason: &str) -> ImportError {
        ImportError::Line { line: self.number, reason: reason.to_owned() }
    }
}
