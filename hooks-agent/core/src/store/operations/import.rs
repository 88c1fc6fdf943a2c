//! Reads a thread from lines of JSON.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::io::AsyncBufRead;

use crate::message::input::InputError;
use crate::message::{Messages, Msg};
use crate::store::contract::Store;
use crate::store::error::StoreError;
use crate::store::filter::Filter;
use crate::store::key::ThreadKey;
use crate::store::operations::error::ImportError;
use crate::store::operations::export::{Header, VERSION, live_messages, sub_threads};
use crate::store::operations::lines::Lines;
use crate::store::record::{HistoryRow, SUB_THREADS};

/// Reads the lines of an [`export`](crate::store::export) and writes them to a store: the thread, with
/// those of its sub-agents. No thread belongs to it that the export does not have. Returns its name.
///
/// The thread has the messages, also those that were replaced, the values and the user of the export.
/// A [`MemoryStore`](crate::thread::MemoryStore) keeps neither replaced messages nor fields that this
/// program does not know.
///
/// Tool calls of the last answer may lack a result: they wait, as after a call that was stopped.
///
/// An export is data of somebody: a line has at most 16 MiB, an export 256 MiB. [`ImportOptions`] changes
/// that.
///
/// # Errors
/// [`ImportError`]: a line that is cut off, invalid or too long, with its number; an export of a newer
/// program; messages that are no [valid history](InputError::check_history); [`StoreError::Conflict`] if
/// there is such a thread. Nothing is written then.
pub async fn import(
    store: &dyn Store,
    reader: impl AsyncBufRead + Unpin + Send,
) -> Result<ThreadKey, ImportError> {
    ImportOptions::new().import(store, reader).await
}

/// How much of an export is read.
///
/// ```
/// use hooks_agent::store::{ImportError, ImportOptions};
/// use hooks_agent::thread::MemoryStore;
///
/// # futures::executor::block_on(async {
/// let options = ImportOptions::new().longest_line(1024);
/// let line = [b'{'; 2000];
/// let error = options.import(&MemoryStore::new(), &line[..]).await.unwrap_err();
/// assert!(matches!(error, ImportError::Line { line: 1, .. }));
/// # });
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct ImportOptions {
    line: u64,
    export: u64,
}

impl ImportOptions {
    /// The limits of [`import`]: lines of 16 MiB, exports of 256 MiB.
    pub fn new() -> Self {
        Self { line: 16 << 20, export: 256 << 20 }
    }

    /// Sets the length of the longest line, in bytes. Each line is a message. Reading one takes some ten
    /// times its length of memory.
    pub fn longest_line(mut self, bytes: u64) -> Self {
        self.line = bytes;
        self
    }

    /// Sets the length of the longest export, in bytes. All of it is in memory at once.
    pub fn longest_export(mut self, bytes: u64) -> Self {
        self.export = bytes;
        self
    }

    /// Reads an export. See [`import`].
    ///
    /// # Errors
    /// Those of [`import`].
    pub async fn import(
        self,
        store: &dyn Store,
        reader: impl AsyncBufRead + Unpin + Send,
    ) -> Result<ThreadKey, ImportError> {
        let mut lines = Lines::new(reader, self.line, self.export);
        let Some(line) = lines.next().await? else {
            return Err(lines.error("is missing"));
        };
        let mut threads = vec![thread(&mut lines, &line).await?];
        while let Some(line) = lines.next().await? {
            let below = thread(&mut lines, &line).await?;
            if threads.iter().any(|known| known.key == below.key) {
                return Err(lines.error("ends a thread that is there already"));
            }
            threads.push(below);
        }
        if threads.last().is_some_and(|last| last.below > 0) {
            return Err(lines.error("is the last one: the thread of a sub-agent is missing"));
        }
        own_only(&mut threads);
        let key = threads[0].key.clone();
        write(store, threads).await?;
        Ok(key)
    }
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// The field of the first line that tells how the others are read.
#[derive(Deserialize)]
struct Version {
    v: Option<u64>,
}

/// A thread that is to be written.
pub(super) struct Thread {
    pub(super) key: ThreadKey,
    pub(super) rows: Vec<HistoryRow>,
    pub(super) values: Map<String, Value>,
    pub(super) user: Option<Arc<str>>,
    /// How many threads follow.
    pub(super) below: usize,
}

/// Removes the names of threads that are not part of the export: whose they are, an export does not
/// decide. What belongs to a thread is forgotten with it.
fn own_only(threads: &mut [Thread]) {
    let keys: Vec<_> = threads.iter().map(|thread| thread.key.clone()).collect();
    for thread in threads {
        let own: Vec<_> =
            sub_threads(&thread.values).into_iter().filter(|key| keys.contains(key)).collect();
        if own.is_empty() {
            thread.values.remove(SUB_THREADS);
        } else {
            thread.values.insert(SUB_THREADS.to_owned(), json!(own));
        }
    }
}

/// Writes the threads: all of them, or none.
pub(super) async fn write(store: &dyn Store, threads: Vec<Thread>) -> Result<(), StoreError> {
    let mut written: Vec<ThreadKey> = Vec::new();
    for Thread { key, rows, values, user, .. } in threads {
        if let Err(error) = store.import(&key, rows, values, user).await {
            for key in written {
                store.forget(Filter::agent(key.agent()).thread(key.thread())).await?;
            }
            return Err(error);
        }
        written.push(key);
    }
    Ok(())
}

/// Reads a thread, whose first line was read.
async fn thread(
    lines: &mut Lines<impl AsyncBufRead + Unpin>,
    line: &[u8],
) -> Result<Thread, ImportError> {
    let header = header(lines, line)?;
    let key = ThreadKey::new(&*header.agent, &*header.thread).map_err(StoreError::from)?;
    let count = match (header.v, header.rows) {
        // Exports of one thread may lack the number of their lines.
        (..VERSION, _) => u64::MAX,
        (_, Some(count)) => count,
        (_, None) => return Err(lines.error("does not say how many messages follow")),
    };
    let rows = rows(lines, count).await?;
    let found = rows.len() as u64;
    if let Some(expected) = header.rows.filter(|expected| *expected != found) {
        return Err(ImportError::Truncated { found, expected });
    }
    let messages = Messages::from(live_messages(&key, &rows)?);
    InputError::check_history(&messages).map_err(ImportError::History)?;
    let Header { values, user, below, .. } = header;
    Ok(Thread { key, rows, values, user: user.map(Into::into), below })
}

/// Reads the first line of a thread. Its version comes first: a newer one may have other fields.
fn header<R: AsyncBufRead + Unpin>(lines: &Lines<R>, line: &[u8]) -> Result<Header, ImportError> {
    match lines.parse::<Version>(line)?.v {
        None => return Err(lines.error("is not the first one of an export")),
        Some(found) if found > VERSION => {
            return Err(ImportError::Newer { found, known: VERSION });
        }
        Some(_) => {}
    }
    lines.parse(line)
}

/// Reads at most this many messages, and checks each of them.
async fn rows(
    lines: &mut Lines<impl AsyncBufRead + Unpin>,
    count: u64,
) -> Result<Vec<HistoryRow>, ImportError> {
    let mut rows = Vec::new();
    let mut seen = HashSet::new();
    while (rows.len() as u64) < count {
        let Some(line) = lines.next().await? else { break };
        let row: HistoryRow = lines.parse(&line)?;
        if Msg::deserialize(&row.message).is_err() {
            return Err(lines.error("has no message that this program knows"));
        }
        row.check().map_err(|reason| lines.error(&reason))?;
        if !seen.insert(row.seq) {
            return Err(lines.error("has the number of an earlier message"));
        }
        rows.push(row);
    }
    Ok(rows)
}
