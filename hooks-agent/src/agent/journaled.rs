//! A call whose steps are in a journal.

use std::sync::Arc;

use hooks_core::BoxFuture;

use crate::agent::Agent;
use crate::call::CallContext;
use crate::error::AgentError;
use crate::journal::{CallEnd, JournalScope};
use crate::message::{Messages, Msg};
use crate::store::{Step, StoreError, ThreadKey};
use crate::stream::AgentEventKind;
use crate::thread::now;

/// Runs a call on the threads of its journal.
pub(super) async fn journaled_reply<A: Agent + ?Sized>(
    agent: &A,
    cx: &CallContext,
    journal: &JournalScope,
    messages: Messages,
) -> Result<Msg, AgentError> {
    let memory = journal.memory(agent, cx.thread_id()).await?;
    cx.claim_thread(&memory)?;
    cx.set_memory(memory.clone());
    cx.join_caller().await?;
    if !cx.verdicts().is_empty() {
        memory.decide(&memory.by_call(cx.verdicts()), now()).map_err(StoreError::from)?;
    }
    cx.emit(|| AgentEventKind::Started).await;
    let reply = agent.reply(cx.clone(), messages).await;
    // A hook may have made something else of the error.
    journal.check().map_err(AgentError::other)?;
    reply
}

/// Keeps the end of the call in its journal, if it has one of its own. A call that its journal failed has
/// no end there, unless the journal is full: the engine runs it again, or gives it up.
pub(super) async fn end<A: Agent + ?Sized>(
    agent: &A,
    cx: &CallContext,
    ended: Result<&Msg, &AgentError>,
) -> Result<(), AgentError> {
    let Some(journal) = cx.journal().filter(|journal| journal.is_root()) else { return Ok(()) };
    if let Err(failed) = journal.check()
        && !(failed.is_full() && ended.is_err())
    {
        return if ended.is_err() { Ok(()) } else { Err(AgentError::other(failed)) };
    }
    let ended = ended.map(|reply| Arc::new(reply.clone())).map_err(AgentError::report);
    Box::pin(journal.end(agent, CallEnd::new(ended))).await
}

/// Writes what a call adds to a thread of an agent that is in a store.
pub(crate) fn write_stored<'a, A: Agent + ?Sized>(
    agent: &'a A,
    key: &'a ThreadKey,
    step: &'a Step,
) -> BoxFuture<'a, Result<(), StoreError>> {
    Box::pin(async move {
        match agent.state().threads().stored().filter(|_| key.agent() == agent.name()) {
            Some(durable) => durable.write(key, step).await,
            None => Ok(()),
        }
    })
}
