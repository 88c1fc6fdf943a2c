//! Begins a thread with the first messages of another one.

use std::sync::Arc;

use serde_json::json;

use crate::message::unanswered_tool_uses;
use crate::store::contract::Store;
use crate::store::error::StoreError;
use crate::store::key::ThreadKey;
use crate::store::operations::error::ForkError;
use crate::store::operations::export::{between_calls, live_messages, sub_threads};
use crate::store::operations::import::{Thread, write};
use crate::store::record::SUB_THREADS;

/// Begins a thread of the same agent with the messages of another one up to the message of this
/// [number](crate::store::HistoryRow::seq): to go on from there in another way. The thread stays as it is.
///
/// The fork has the user of the thread, and what hooks keep with the thread, as it is now: it resets no limit, no label
/// and no remembered answer. So have forks of the threads of sub-agents whose names begin with that of the thread; the
/// others stay those of the thread alone. Questions that wait stay with the thread.
///
/// Messages that were replaced, by a summary or by a hook, are not part of a fork.
///
/// ```
/// use hooks_agent::prelude::*;
/// use hooks_agent::store::{self, Store, ThreadKey};
/// use hooks_agent::thread::MemoryStore;
///
/// # futures::executor::block_on(async {
/// let threads = MemoryStore::new();
/// let model = ScriptedModel::new("fixed", |_| "Hello.");
/// let agent = ReActAgent::builder("clerk").model(model).store(threads.clone()).build()?;
/// let on = |thread: &str| CallOptions::new().thread(thread);
/// agent.call_with(on("ada"), "Good morning").await?;
/// agent.call_with(on("ada"), "Pay the rent").await?;
///
/// let ada = ThreadKey::new("clerk", "ada")?;
/// let answer = threads.history(&ada).await?[1].seq;
/// let again = store::fork(&threads, &ada, answer, "ada, again").await?;
/// agent.call_with(on(again.thread()), "Pay nothing").await?;
/// assert_eq!(threads.history(&again).await?.len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
///
/// # Errors
/// [`ForkError::InCall`], [`ForkError::NoMessage`], [`ForkError::Unanswered`];
/// [`StoreError::UnknownThread`] if there is no such thread, and [`StoreError::Conflict`] if there is one of the name
/// of the fork.
pub async fn fork(
    store: &dyn Store,
    thread: &ThreadKey,
    last: u64,
    to: impl Into<Arc<str>>,
) -> Result<ThreadKey, ForkError> {
    let to: Arc<str> = to.into();
    let key = ThreadKey::new(thread.agent(), to.clone()).map_err(StoreError::from)?;
    let (info, mut rows, values) = read(store, thread).await?;
    rows.retain(|row| row.archived.is_none());
    rows.sort_by_key(|row| (row.place, row.seq));
    let no_message = || ForkError::NoMessage { thread: thread.clone(), last };
    let place = rows.iter().position(|row| row.seq == last).ok_or_else(no_message)?;
    rows.truncate(place + 1);
    let messages = live_messages(thread, &rows)?;
    let ids: Vec<_> = unanswered_tool_uses(&messages).into_iter().map(|call| call.id).collect();
    if !ids.is_empty() {
        return Err(ForkError::Unanswered { thread: thread.clone(), ids });
    }
    let first = Thread { key: key.clone(), rows, values, user: info.user, below: 0 };
    let threads = with_threads_below(store, thread, &to, first).await?;
    write(store, threads).await?;
    Ok(key)
}

/// Adds the forks of the threads of sub-agents.
async fn with_threads_below(
    store: &dyn Store,
    thread: &ThreadKey,
    to: &str,
    first: Thread,
) -> Result<Vec<Thread>, ForkError> {
    let mut threads = vec![first];
    let mut next = 0;
    while let Some(above) = threads.get_mut(next) {
        next += 1;
        let mut own = Vec::new();
        for below in sub_threads(&above.values) {
            let Some(rest) = below.thread().strip_prefix(thread.thread()) else { continue };
            let id = format!("{to}{rest}");
            own.push((below.clone(), ThreadKey::new(below.agent(), id).map_err(StoreError::from)?));
        }
        above.values.remove(SUB_THREADS);
        if !own.is_empty() {
            let names: Vec<_> = own.iter().map(|(_, fork)| fork).collect();
            above.values.insert(SUB_THREADS.to_owned(), json!(names));
        }
        for (below, key) in own {
            if threads.iter().any(|known| known.key == key) {
                continue;
            }
            match read(store, &below).await {
                // It is in another store, or has never begun.
                Err(ForkError::Store(StoreError::UnknownThread(_))) => {}
                read => {
                    let (info, rows, values) = read?;
                    threads.push(Thread { key, rows, values, user: info.user, below: 0 });
                }
            }
        }
    }
    Ok(threads)
}

async fn read(
    store: &dyn Store,
    thread: &ThreadKey,
) -> Result<crate::store::operations::export::Read, ForkError> {
    let read = between_calls(store, thread).await?;
    read.ok_or_else(|| ForkError::InCall { thread: thread.clone() })
}
