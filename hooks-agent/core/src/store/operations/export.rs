//! Writes a thread as lines of JSON.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::message::{Msg, unanswered_tool_uses};
use crate::store::contract::Store;
use crate::store::error::StoreError;
use crate::store::filter::Filter;
use crate::store::key::ThreadKey;
use crate::store::operations::error::ExportError;
use crate::store::record::{HistoryRow, SUB_THREADS, ThreadInfo};

/// The latest version of exports that this program knows: one of several threads.
pub(super) const VERSION: u64 = 2;

/// The version of an export of one thread.
const ONE_THREAD: u64 = 1;

/// The first line of an export.
#[derive(Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) v: u64,
    pub(super) agent: String,
    pub(super) thread: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) user: Option<String>,
    pub(super) values: Map<String, Value>,
    /// How many lines of the thread follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rows: Option<u64>,
    /// How many threads of sub-agents follow.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) below: usize,
}

/// Writes a thread as lines of JSON: `{"v", "agent", "thread", "user", "values", "rows"}`, then each
/// message as a [`HistoryRow`], also those that were replaced. Fields of messages that this program does
/// not know are written too. The threads of sub-agents in this namespace, which belong to the thread,
/// follow in the same way.
///
/// A thread is exported between its calls. Tool calls that are answered and questions that are closed
/// are not part of the export.
///
/// ```
/// use hooks_agent::prelude::*;
/// use hooks_agent::store::{self, ThreadKey};
/// use hooks_agent::thread::MemoryStore;
///
/// # futures::executor::block_on(async {
/// let (here, there) = (MemoryStore::new(), MemoryStore::new());
/// let model = ScriptedModel::new("fixed", |_| "Hello.");
/// let agent = ReActAgent::builder("clerk").model(model).store(here.clone()).build()?;
/// agent.call_with(CallOptions::new().thread("ada"), "Good morning").await?;
///
/// let ada = ThreadKey::new("clerk", "ada")?;
/// let mut lines = Vec::new();
/// store::export(&here, &ada, &mut lines).await?;
/// assert_eq!(store::import(&there, &*lines).await?, ada);
/// assert_eq!(there.history(&ada).await?.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// # use hooks_agent::store::Store;
/// ```
///
/// # Errors
/// [`StoreError::UnknownThread`] if there is no such thread, [`ExportError::InCall`] if a call is in
/// progress on it or was cut off, [`ExportError::Unanswered`] if tool calls wait: what the store knows
/// of them is not in its messages.
pub async fn export(
    store: &dyn Store,
    thread: &ThreadKey,
    mut writer: impl AsyncWrite + Unpin + Send,
) -> Result<(), ExportError> {
    let mut threads = vec![(thread.clone(), read(store, thread).await?)];
    let mut seen = vec![thread.clone()];
    let mut next = 0;
    while let Some((_, (_, _, values))) = threads.get(next) {
        next += 1;
        for below in sub_threads(values) {
            if !seen.contains(&below) {
                seen.push(below.clone());
                match read(store, &below).await {
                    // It is in another store, or has never begun.
                    Err(ExportError::Store(StoreError::UnknownThread(_))) => {}
                    read => threads.push((below, read?)),
                }
            }
        }
    }
    let v = if threads.len() == 1 { ONE_THREAD } else { VERSION };
    for (follow, (thread, read)) in (0..threads.len()).rev().zip(threads) {
        write((v, follow), &thread, read, &mut writer).await?;
    }
    writer.flush().await.map_err(ExportError::Write)
}

/// What a thread has.
pub(super) type Read = (ThreadInfo, Vec<HistoryRow>, Map<String, Value>);

/// Returns the threads of sub-agents that a thread lists.
pub(super) fn sub_threads(values: &Map<String, Value>) -> Vec<ThreadKey> {
    let listed = values.get(SUB_THREADS).map(Vec::<ThreadKey>::deserialize);
    listed.and_then(Result::ok).unwrap_or_default()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

async fn write(
    (v, below): (u64, usize),
    thread: &ThreadKey,
    (info, rows, values): Read,
    writer: &mut (impl AsyncWrite + Unpin + Send),
) -> Result<(), ExportError> {
    let header = Header {
        v,
        agent: thread.agent().to_owned(),
        thread: thread.thread().to_owned(),
        user: info.user.map(|user| user.to_string()),
        values,
        rows: Some(rows.len() as u64),
        below,
    };
    writer.write_all(&line(&header)?).await.map_err(ExportError::Write)?;
    for row in &rows {
        writer.write_all(&line(row)?).await.map_err(ExportError::Write)?;
    }
    Ok(())
}

/// Reads a thread as it is between two calls, without tool calls that wait.
async fn read(store: &dyn Store, thread: &ThreadKey) -> Result<Read, ExportError> {
    let read = between_calls(store, thread).await?;
    let Some((after, rows, values)) = read else {
        return Err(ExportError::InCall { thread: thread.clone() });
    };
    let messages = live_messages(thread, &rows)?;
    let ids: Vec<_> = unanswered_tool_uses(&messages).into_iter().map(|call| call.id).collect();
    if !ids.is_empty() {
        return Err(ExportError::Unanswered { thread: thread.clone(), ids });
    }
    Ok((after, rows, values))
}

/// Reads a thread as it is between two calls; nothing if a call is in progress.
pub(super) async fn between_calls(
    store: &dyn Store,
    thread: &ThreadKey,
) -> Result<Option<Read>, StoreError> {
    let before = info(store, thread).await?;
    let rows = store.history(thread).await?;
    let values = store.values(thread).await?;
    let after = info(store, thread).await?;
    let state = |info: &ThreadInfo| (info.version, info.messages, info.in_call);
    let is_still = !before.in_call && state(&before) == state(&after);
    Ok(is_still.then_some((after, rows, values)))
}

async fn info(store: &dyn Store, thread: &ThreadKey) -> Result<ThreadInfo, StoreError> {
    let found = store.threads(Filter::agent(thread.agent()).thread(thread.thread())).await?;
    found.into_iter().next().ok_or_else(|| StoreError::UnknownThread(thread.clone()))
}

/// Returns the messages of the conversation, in order.
pub(super) fn live_messages(
    thread: &ThreadKey,
    rows: &[HistoryRow],
) -> Result<Vec<Msg>, StoreError> {
    let mut live: Vec<_> = rows.iter().filter(|row| row.archived.is_none()).collect();
    live.sort_by_key(|row| (row.place, row.seq));
    live.into_iter().map(|row| row.read(thread)).collect()
}

fn line(value: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    let mut line = serde_json::to_vec(value).map_err(|error| StoreError::Failed(error.into()))?;
    line.push(b'\n');
    Ok(line)
}
