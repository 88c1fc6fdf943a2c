//! Begins and ends a call where it is kept: nowhere, in the store of its thread, or in a journal.

use std::pin::pin;
use std::sync::{Arc, OnceLock};

use crate::agent::contract::Agent;
use crate::agent::journaled::{journaled_memory, write_end};
use crate::call::CallContext;
use crate::error::AgentError;
use crate::journal::{CallEnd, JournalScope};
use crate::memory::Memory;
use crate::message::{Messages, Msg};
use crate::store::StoreError;
use crate::store::now;
use crate::stream::AgentEventKind;
use crate::thread::{Durable, OpenSession};

/// Runs a call on its thread, which is up to date then and written where the call is kept.
pub(super) async fn reply<A: Agent + ?Sized>(
    agent: &A,
    cx: &CallContext,
    messages: Messages,
    session: &OnceLock<OpenSession>,
) -> Result<Msg, AgentError> {
    // What is rare is boxed, so that the future of other calls stays small.
    if let Some(journal) = cx.journal() {
        return Box::pin(journaled(agent, cx, journal, messages)).await;
    }
    if let Some(durable) = agent.state().threads().stored() {
        return Box::pin(stored(agent, cx, durable, messages, session)).await;
    }
    if let Some(memory) = cx.memory()
        && (cx.user().is_some() || cx.parent().is_some() || memory.may_have_owner())
    {
        cx.claim_thread(&memory, !messages.is_empty())?;
        Box::pin(async {
            cx.identify(agent.state().users(), memory.user()).await?;
            cx.join_caller().await
        })
        .await?;
    }
    // An agent without threads has users too.
    if cx.user().is_some() {
        Box::pin(cx.identify(agent.state().users(), None)).await?;
    }
    if cx.has_verdicts() {
        agent.state().threads().decide(cx)?;
    }
    if cx.is_only_unfinished()
        && let Some(memory) = cx.memory()
    {
        cx.check_unfinished(&memory)?;
    }
    cx.emit(|| AgentEventKind::Started).await;
    answer(agent, cx, messages).await
}

/// Answers the messages, inside of the hooks around whole calls.
async fn answer<A: Agent + ?Sized>(
    agent: &A,
    cx: &CallContext,
    messages: Messages,
) -> Result<Msg, AgentError> {
    if agent.has_whole_call() {
        return agent.run_whole_call(cx.clone(), messages).await;
    }
    agent.reply(cx.clone(), messages).await
}

/// Runs a call on a thread in a store.
async fn stored<A: Agent + ?Sized>(
    agent: &A,
    cx: &CallContext,
    durable: &Durable,
    messages: Messages,
    session: &OnceLock<OpenSession>,
) -> Result<Msg, AgentError> {
    let memory = cx.memory().unwrap_or_else(|| agent.state().threads().of_call(cx.named_thread()));
    let users = agent.state().users();
    cx.identify(users, None).await?;
    let has_input = !messages.is_empty();
    let opened = cx.unless_shut_down(durable.begin(cx, memory, has_input, users)).await??;
    let session = session.get_or_init(|| opened);
    cx.emit(|| AgentEventKind::Started).await;
    if let Some(reply) = session.served(cx.through()) {
        return Ok(reply);
    }
    let reply = pin!(answer(agent, cx, messages));
    let reply = session.guard(reply).await?;
    // A hook may have made something else of the error.
    cx.check_shut_down()?;
    let reply = reply?;
    session.serve(cx.through(), &reply);
    Ok(reply)
}

/// Runs a call on the threads of its journal.
async fn journaled<A: Agent + ?Sized>(
    agent: &A,
    cx: &CallContext,
    journal: &JournalScope,
    messages: Messages,
) -> Result<Msg, AgentError> {
    let memory = journaled_memory(agent, journal, cx.thread_id()).await?;
    cx.claim_thread(&memory, !messages.is_empty())?;
    cx.identify(agent.state().users(), memory.user()).await?;
    cx.set_memory(memory.clone());
    cx.join_caller().await?;
    if cx.has_verdicts() {
        memory.decide(&memory.by_call(&cx.verdicts()), now()).map_err(StoreError::from)?;
    }
    cx.check_unfinished(&memory)?;
    cx.emit(|| AgentEventKind::Started).await;
    let reply = answer(agent, cx, messages).await;
    // A hook may have made something else of the error.
    journal.check().map_err(AgentError::other)?;
    reply
}

/// Writes the thread of a call that has its reply, and releases it. Subscribers get the reply after that.
pub(super) async fn finish(session: Option<&OpenSession>) -> Result<(), StoreError> {
    match session {
        Some(session) => Box::pin(session.close()).await,
        None => Ok(()),
    }
}

/// Keeps the end of a call: writes what one without a reply left in its thread, and the end in the
/// journal, if the call has one of its own.
///
/// A call that its journal failed has no end there, unless the journal is full: the engine runs it again,
/// or gives it up.
pub(super) async fn end<A: Agent + ?Sized>(
    agent: &A,
    cx: &CallContext,
    session: Option<&OpenSession>,
    ended: Result<&Msg, &AgentError>,
) -> Result<(), AgentError> {
    if let Some(session) = session {
        give_up(cx, session).await;
    }
    let Some(journal) = cx.journal().filter(|journal| journal.is_root()) else { return Ok(()) };
    if let Err(failed) = journal.check()
        && !(failed.is_full() && ended.is_err())
    {
        return if ended.is_err() { Ok(()) } else { Err(AgentError::other(failed)) };
    }
    let ended = ended.map(|reply| Arc::new(reply.clone())).map_err(AgentError::report);
    Box::pin(write_end(agent, journal, CallEnd::new(ended))).await
}

async fn give_up(cx: &CallContext, session: &OpenSession) {
    let closed = match cx.check_shut_down() {
        Ok(()) => Box::pin(session.close()).await,
        Err(_) => Box::pin(session.leave()).await,
    };
    if let Err(error) = closed {
        tracing::warn!(
            target: "hooks_agent::agent",
            agent = cx.agent_name(),
            thread = cx.thread_id(),
            error = &error as &dyn std::error::Error,
            "the end of a call was not stored"
        );
    }
}

/// Returns the memory of the thread of a call that an agent is to make inside of `cx`, up to date.
pub(crate) async fn memory_below<A: Agent + ?Sized>(
    agent: &A,
    cx: &CallContext,
) -> Result<Arc<Memory>, AgentError> {
    if let Some(journal) = cx.journal() {
        return Box::pin(journaled_memory(agent, journal, cx.thread_id())).await;
    }
    let threads = agent.state().threads();
    let memory = threads.of_call(cx.named_thread());
    if let Some(durable) = threads.stored().filter(|durable| !durable.is_running(cx)) {
        let _turn = threads.turns().take(cx).await?;
        Box::pin(durable.refresh(cx, &memory)).await?;
    }
    Ok(memory)
}
