//! Calling an agent.

use std::mem::ManuallyDrop;
use std::pin::pin;
use std::sync::Arc;

use futures::future::{Either, select};

use crate::agent::{Agent, AgentStream, CallOutcome};
use crate::context::{AgentEventKind, CallContext, CallOptions};
use crate::error::AgentError;
use crate::message::{ContentBlock, GenerateReason, Messages, Msg, Role};
use crate::usage::Usage;

/// How agents are called; every [`Agent`] has it, `dyn Agent` too.
pub trait AgentExt: Agent {
    /// Answers a message, or several: [`call_with`](AgentExt::call_with) without options.
    ///
    /// # Errors
    /// As `call_with`.
    fn call(
        &self,
        messages: impl Into<Messages>,
    ) -> impl Future<Output = Result<Msg, AgentError>> + Send {
        self.call_with(CallOptions::new(), messages)
    }

    /// Goes on with what waits for an answer: runs the pending tool calls. Hooks see them again; one that
    /// [stops](crate::PreActing::stop) until a call is confirmed gets
    /// [`CallOptions::confirm`](crate::CallOptions::confirm). Where nothing waits, the model is asked.
    ///
    /// # Errors
    /// As `call_with`.
    fn resume(&self, options: CallOptions) -> impl Future<Output = Result<Msg, AgentError>> + Send {
        self.call_with(options, Messages::new())
    }

    /// Answers messages: waits for its turn on its thread, runs [`reply`](Agent::reply) with its
    /// hooks, and has subscribers observe the answer.
    ///
    /// The answer says [why](Msg::reason) the call ended and what it [cost](Msg::usage). A call that is
    /// interrupted, while it waits too, has what had been said for its answer; post hooks of `reply`
    /// do not run then, or not to their end, and subscribers get nothing. However it ends, [`settled`](Agent::settled) runs
    /// once; dropping the future cancels the call.
    ///
    /// A call from inside of a call of the same agent on the same thread, by a hook or a tool, must say
    /// so by [`CallOptions::child_of`], or it waits for itself forever. A call that is dropped before it
    /// is first polled has not begun.
    ///
    /// # Errors
    /// Those of the agent and its hooks; [`AgentError::CallsItself`] if the call is part of a call of
    /// the same agent on the same thread, which waits for it.
    fn call_with(
        &self,
        options: CallOptions,
        messages: impl Into<Messages>,
    ) -> impl Future<Output = Result<Msg, AgentError>> + Send {
        let cx = context(self, options);
        run(self, cx, messages.into())
    }

    /// Answers a message, and tells what happens in the meantime.
    fn stream(&self, messages: impl Into<Messages>) -> AgentStream<'_> {
        self.stream_with(CallOptions::new(), messages)
    }

    /// Answers messages like [`call_with`](AgentExt::call_with), and tells what happens in the
    /// meantime.
    fn stream_with(&self, options: CallOptions, messages: impl Into<Messages>) -> AgentStream<'_> {
        let messages = messages.into();
        AgentStream::new(|events| {
            let cx = context(self, options.events(events));
            Box::pin(run(self, cx, messages))
        })
    }

    /// The context of a call of this agent: for calling its methods by hand.
    fn context(&self, options: CallOptions) -> CallContext {
        context(self, options)
    }
}

impl<A: Agent + ?Sized> AgentExt for A {}

fn context<A: Agent + ?Sized>(agent: &A, options: CallOptions) -> CallContext {
    let state = agent.state();
    CallContext::new(state.shared_id(), state.shared_name(), agent.system_message(), options)
}

async fn run<A: Agent + ?Sized>(
    agent: &A,
    cx: CallContext,
    messages: Messages,
) -> Result<Msg, AgentError> {
    // Given back after the call is settled: what the next call on the thread does comes after it.
    let mut turn = None;
    let settle = Settle { agent, cx: &cx };
    let ended = {
        let call = pin!(async {
            refuse_cycle(agent, &cx)?;
            turn = Some(agent.state().turns.take(&cx).await);
            cx.emit(|| AgentEventKind::Started).await;
            agent.reply(cx.clone(), messages).await
        });
        // The interrupt first: a call that is interrupted may have a reply to give all the same.
        match select(pin!(cx.interrupted()), call).await {
            Either::Left(_) => None,
            Either::Right((reply, _)) => Some(reply),
        }
    };
    // A call that has its reply can no longer be interrupted.
    if let Some(Ok(reply)) = &ended {
        tell_subscribers(agent, &cx, reply).await;
    }
    let reply = match ended {
        Some(Err(error)) => {
            settle.with(CallOutcome::Failed(error.to_string().into()));
            return Err(error);
        }
        Some(Ok(mut reply)) => {
            // A hook that supplied another reply need not know why the call ended, nor its cost.
            reply.reason = reply.reason.or_else(|| cx.reason());
            let usage = cx.usage();
            reply.usage = reply.usage.or((usage != Usage::default()).then_some(usage));
            settle.with(CallOutcome::Finished(reply.reason));
            reply
        }
        None => {
            settle.with(CallOutcome::Interrupted);
            interrupted(&cx)
        }
    };
    cx.emit(|| AgentEventKind::Finished(Arc::new(reply.clone()))).await;
    Ok(reply)
}

/// A call would wait for itself if it were part of a call of the same agent on the same thread.
fn refuse_cycle<A: Agent + ?Sized>(agent: &A, cx: &CallContext) -> Result<(), AgentError> {
    let mut callers = std::iter::successors(cx.parent(), |caller| caller.parent());
    let is_same = |caller: &CallContext| {
        caller.agent_id() == cx.agent_id() && caller.thread_id() == cx.thread_id()
    };
    if callers.any(is_same) {
        let (agent, thread) = (agent.name().to_owned(), cx.thread_id().to_owned());
        return Err(AgentError::CallsItself { agent, thread });
    }
    Ok(())
}

async fn tell_subscribers<A: Agent + ?Sized>(agent: &A, cx: &CallContext, reply: &Msg) {
    for observer in agent.state().subscribers() {
        let options = CallOptions::new().child_of(cx);
        let observed = observer.observe(context(&*observer, options), reply.clone()).await;
        if let Err(error) = observed {
            tracing::warn!(
                agent = agent.name(),
                observer = observer.name(),
                error = &error as &dyn std::error::Error,
                "an observer did not take a reply"
            );
        }
    }
}

/// What had been said when the call was interrupted.
fn interrupted(cx: &CallContext) -> Msg {
    let partial = cx.take_partial().map(Arc::unwrap_or_clone);
    let mut reply =
        partial.unwrap_or_else(|| Msg::from_blocks(Role::Assistant, cx.agent_name(), Vec::new()));
    // What it wanted to do is answered by now.
    reply.content.retain(|block| !matches!(block, ContentBlock::ToolUse(_)));
    Msg { reason: Some(GenerateReason::Interrupted), usage: Some(cx.usage()), ..reply }
}

/// Says that a call is over, once, whatever happens.
struct Settle<'a, A: Agent + ?Sized> {
    agent: &'a A,
    cx: &'a CallContext,
}

impl<A: Agent + ?Sized> Settle<'_, A> {
    fn with(self, outcome: CallOutcome) {
        let this = ManuallyDrop::new(self);
        this.agent.settled(this.cx.clone(), outcome);
    }
}

impl<A: Agent + ?Sized> Drop for Settle<'_, A> {
    fn drop(&mut self) {
        let outcome = if std::thread::panicking() {
            CallOutcome::Panicked
        } else if self.cx.is_interrupted() {
            CallOutcome::Interrupted
        } else {
            CallOutcome::Cancelled
        };
        self.agent.settled(self.cx.clone(), outcome);
    }
}
