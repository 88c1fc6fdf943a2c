//! A call on a thread that is in a store outside of the process.

use std::pin::pin;
use std::sync::OnceLock;

use crate::agent::contract::Agent;
use crate::call::CallContext;
use crate::error::AgentError;
use crate::message::{Messages, Msg};
use crate::stream::AgentEventKind;
use crate::thread::OpenSession;

/// Runs the call of a thread that is in a store outside of the process.
pub(super) async fn stored_reply<A: Agent + ?Sized>(
    agent: &A,
    cx: &CallContext,
    messages: Messages,
    session: &OnceLock<OpenSession>,
) -> Result<Msg, AgentError> {
    let threads = agent.state().threads();
    let memory = cx.memory().unwrap_or_else(|| threads.of_call(cx.named_thread()));
    let Some(durable) = threads.stored() else { return agent.reply(cx.clone(), messages).await };
    let opened = cx.unless_shut_down(durable.begin(cx, memory)).await??;
    let session = session.get_or_init(|| opened);
    cx.emit(|| AgentEventKind::Started).await;
    if let Some(reply) = session.served(cx.through()) {
        return Ok(reply);
    }
    let reply = pin!(agent.reply(cx.clone(), messages));
    let reply = session.guard(reply).await?;
    // A hook may have made something else of the error.
    cx.check_shut_down()?;
    let reply = reply?;
    session.serve(cx.through(), &reply);
    Ok(reply)
}

/// Writes what a call that did not finish left, and releases its thread.
pub(super) async fn close(cx: &CallContext, session: Option<&OpenSession>) {
    let Some(session) = session else { return };
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
