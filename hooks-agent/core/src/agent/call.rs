//! Calls of agents, in each of their forms.

use std::pin::pin;
use std::sync::{Arc, OnceLock};

use crate::agent::contract::{Agent, CallOutcome};
use crate::agent::kept;
use crate::agent::settle::Settle;
use crate::agent::shutdown::RunningCall;
use crate::call::{CallContext, CallOptions};
use crate::error::AgentError;
use crate::memory::FindMemory;
use crate::message::{ContentBlock, GenerateReason, Messages, Msg, Role};
use crate::stream::{AgentEventKind, AgentStream};
use crate::thread::{OpenSession, Turn};
use crate::usage::Usage;

/// The methods that call an agent, implemented for every [`Agent`] and for `dyn Agent`.
pub trait AgentExt: Agent {
    /// Answers one or more messages. Equivalent to [`call_with`](AgentExt::call_with) with default
    /// options.
    ///
    /// # Errors
    /// The same as for `call_with`.
    fn call(
        &self,
        messages: impl Into<Messages>,
    ) -> impl Future<Output = Result<Msg, AgentError>> + Send {
        self.call_with(CallOptions::new(), messages)
    }

    /// Resumes a conversation: runs the tool calls that wait for a result, or calls the model if
    /// there are none.
    ///
    /// Hooks receive these tool calls again. For a hook that [stops](crate::event::PreActing::stop)
    /// until a tool call is confirmed, pass
    /// [`CallOptions::confirm`](crate::call::CallOptions::confirm).
    ///
    /// # Errors
    /// The same as for `call_with`.
    fn resume(&self, options: CallOptions) -> impl Future<Output = Result<Msg, AgentError>> + Send {
        self.call_with(options, Messages::new())
    }

    /// Answers messages.
    ///
    /// Waits for earlier calls on the same thread, runs [`reply`](Agent::reply) with its hooks,
    /// then passes the reply to the subscribers.
    ///
    /// The reply carries the [reason](Msg::reason) why the call ended and its token
    /// [usage](Msg::usage). An interrupted call returns the partial message, also while it waits
    /// for its turn; if post or around hooks of `reply` have not seen that message, it is empty.
    /// Subscribers receive nothing.
    ///
    /// [`settled`](Agent::settled) runs once for each call, however it ends. Dropping the future
    /// cancels the call. A call that is dropped before it is first polled has not begun.
    ///
    /// A hook or a tool that calls the agent of its own call on the same thread must set
    /// [`CallOptions::child_of`]; the call then fails instead of waiting for itself forever.
    ///
    /// # Errors
    /// The errors of the agent and its hooks. [`AgentError::CallsItself`] if the call is part of a
    /// call of the same agent on the same thread.
    fn call_with(
        &self,
        options: CallOptions,
        messages: impl Into<Messages>,
    ) -> impl Future<Output = Result<Msg, AgentError>> + Send {
        let cx = context(self, options.of_call());
        run(self, cx, messages.into())
    }

    /// Answers one or more messages as a stream of events. Equivalent to
    /// [`stream_with`](AgentExt::stream_with) with default options.
    fn stream(&self, messages: impl Into<Messages>) -> AgentStream<'_> {
        self.stream_with(CallOptions::new(), messages)
    }

    /// Answers messages like [`call_with`](AgentExt::call_with), as a stream of the events of the
    /// call.
    fn stream_with(&self, options: CallOptions, messages: impl Into<Messages>) -> AgentStream<'_> {
        let messages = messages.into();
        AgentStream::new(|events| {
            let cx = context(self, options.events(events).of_call());
            (cx.clone(), Box::pin(run(self, cx, messages)))
        })
    }

    /// Answers messages like [`call_with`](AgentExt::call_with). The future owns the agent, so that it
    /// can be spawned.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use hooks_agent::prelude::*;
    ///
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// let model = ScriptedModel::new("fixed", |_| "Done.");
    /// let agent = Arc::new(ReActAgent::builder("assistant").model(model).build()?);
    /// let call = agent.clone().call_owned(CallOptions::new().thread("ada"), "Go");
    /// assert_eq!(tokio::spawn(call).await.unwrap()?.text(), "Done.");
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    fn call_owned(
        self: Arc<Self>,
        options: CallOptions,
        messages: impl Into<Messages>,
    ) -> impl Future<Output = Result<Msg, AgentError>> + Send + 'static {
        let messages = messages.into();
        async move {
            let cx = context(&*self, options.of_call());
            run(&*self, cx, messages).await
        }
    }

    /// Answers messages like [`stream_with`](AgentExt::stream_with). The stream owns the agent, as the
    /// body of an HTTP response must.
    fn stream_owned(
        self: Arc<Self>,
        options: CallOptions,
        messages: impl Into<Messages>,
    ) -> AgentStream<'static> {
        let messages = messages.into();
        AgentStream::new(|events| {
            let cx = context(&*self, options.events(events).of_call());
            (cx.clone(), Box::pin(async move { run(&*self, cx, messages).await }))
        })
    }

    /// Shuts the agent down: refuses new calls and those that wait for their turn, with
    /// [`AgentError::ShutDown`], and waits until the calls that run have ended and their threads are free.
    ///
    /// A call of a [`ReActAgent`](crate::react::ReActAgent) whose thread is in a store outside of the
    /// process ends after its running step, a model call or the tools that run, with the same error:
    /// another process goes on with it by [`resume`](Self::resume), or with the next message, and waits
    /// for no lease. Its sub-agents do the same. Other calls run to their end, since nothing could go on
    /// with them. Dropping the future does not end the shutdown: the agent takes no calls again.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    ///
    /// # futures::executor::block_on(async {
    /// let model = ScriptedModel::new("fixed", |_| "Done.");
    /// let agent = ReActAgent::builder("assistant").model(model).build()?;
    /// agent.shutdown().await;
    /// let error = agent.call("Go").await.unwrap_err();
    /// assert!(matches!(error, AgentError::ShutDown { .. }));
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    fn shutdown(&self) -> impl Future<Output = ()> + Send {
        self.state().shut_down()
    }

    /// Creates the context of a call of this agent, for calling the agent's methods directly.
    fn context(&self, options: CallOptions) -> CallContext {
        context(self, options)
    }
}

impl<A: Agent + ?Sized> AgentExt for A {}

fn context<A: Agent + ?Sized>(agent: &A, options: CallOptions) -> CallContext {
    let state = agent.state();
    let (id, name, system) = (state.shared_id(), state.shared_name(), agent.system_message());
    let threads = match agent.threads_by_id() {
        None => state.kept_threads().cloned().map(|threads| threads as Arc<dyn FindMemory>),
        threads => threads,
    };
    let has_threads = threads.is_some();
    let options = options.shut_down_by(state.shutdown().begun());
    let options = options.counted_by(state.threads().ledger());
    let cx = CallContext::new(id, name, system, threads, options);
    if !has_threads && let Some(memory) = agent.memory_of(&cx) {
        cx.set_memory(memory);
    }
    cx
}

async fn run<A: Agent + ?Sized>(
    agent: &A,
    cx: CallContext,
    messages: Messages,
) -> Result<Msg, AgentError> {
    match agent.begin(&cx) {
        None => run_on(agent, cx, messages).await,
        // Boxed, so that the future of other calls stays small.
        Some(governed) => Box::pin(run_on(&*governed, cx, messages)).await,
    }
}

async fn run_on<A: Agent + ?Sized>(
    agent: &A,
    cx: CallContext,
    messages: Messages,
) -> Result<Msg, AgentError> {
    let mut running = None;
    // Dropped after the call is settled, so that the next call on the thread starts after that.
    let mut turn = None;
    let session = OnceLock::new();
    let settle = Settle::new(agent, &cx);
    let call = pin!(reply(agent, &cx, messages, (&mut running, &mut turn), &session));
    let ended = settle.watch(call).await;
    let reply = match ended {
        Some(Err(error)) => {
            settle.with(CallOutcome::Failed(error.to_string().into()));
            kept::end(agent, &cx, session.get(), Err(&error)).await?;
            if cx.parent().is_some() {
                cx.emit(|| AgentEventKind::Failed { kind: error.kind() }).await;
            }
            return Err(error);
        }
        Some(Ok(reply)) => {
            if reply.reason == Some(GenerateReason::Recovered) {
                cx.set_recovered_reply(reply.clone());
            }
            settle.with(CallOutcome::Finished(reply.reason));
            kept::end(agent, &cx, None, Ok(&reply)).await?;
            reply
        }
        None => {
            // Hooks may have come during the call.
            cx.set_has_reviewers(agent.has_reviewers());
            settle.with(CallOutcome::Interrupted);
            let reply = interrupted(&cx);
            kept::end(agent, &cx, session.get(), Ok(&reply)).await?;
            reply
        }
    };
    cx.emit(|| AgentEventKind::Finished(Arc::new(reply.clone()))).await;
    Ok(reply)
}

/// Waits for the turn of the call, runs it, and passes its reply to the subscribers. Returns `None`
/// if the call was interrupted.
async fn reply<'a, A: Agent + ?Sized>(
    agent: &'a A,
    cx: &CallContext,
    messages: Messages,
    (running, turn): (&mut Option<RunningCall>, &mut Option<Turn<'a>>),
    session: &OnceLock<OpenSession>,
) -> Option<Result<Msg, AgentError>> {
    let call = pin!(async {
        *running = Some(agent.state().begin_call()?);
        refuse_cycle(agent, cx)?;
        let queued = agent.hold(cx);
        let threads = agent.state().threads();
        *turn = Some(cx.unless_shut_down(threads.turns().take(cx)).await??);
        // An earlier call may have begun the thread.
        let held = agent.hold(cx);
        drop(queued);
        let reply = kept::reply(agent, cx, messages, session).await;
        drop(held);
        reply
    });
    let mut reply = match cx.run_until_interrupted(call).await? {
        Ok(reply) => reply,
        Err(error) => return Some(Err(error)),
    };
    // A reply of a hook may lack the reason, the usage, and what waits.
    if reply.pending.is_empty() {
        reply.pending = cx.waiting();
    }
    reply.reason.get_or_insert(GenerateReason::HookAnswered);
    let usage = cx.usage();
    reply.usage = reply.usage.or((usage != Usage::default()).then_some(usage));
    // A call that has its reply can no longer be interrupted.
    if let Err(error) = kept::finish(session.get()).await {
        return Some(Err(error.into()));
    }
    tell_subscribers(agent, cx, &reply).await;
    Some(Ok(reply))
}

/// Refuses a call that would wait for itself: it is part of a call of the same agent on the same
/// thread.
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

/// Passes the reply to the subscribers, without tool calls: these are for this agent alone.
async fn tell_subscribers<A: Agent + ?Sized>(agent: &A, cx: &CallContext, reply: &Msg) {
    let subscribers = agent.state().subscribers();
    if subscribers.is_empty() {
        return;
    }
    let mut reply = Msg { pending: Vec::new(), ..reply.clone() };
    reply
        .content
        .retain(|block| !matches!(block, ContentBlock::ToolUse(_) | ContentBlock::ToolResult(_)));
    if reply.content.is_empty() {
        return;
    }
    reply.role = Role::Assistant;
    for observer in subscribers {
        let options = CallOptions::new().child_of(cx);
        let observed = observer.observe(context(&*observer, options), reply.clone()).await;
        if let Err(error) = observed {
            tracing::warn!(
                target: "hooks_agent::agent",
                agent = agent.name(),
                observer = observer.name(),
                error = &error as &dyn std::error::Error,
                "an observer did not take a reply"
            );
        }
    }
}

/// The partial message of an interrupted call.
fn interrupted(cx: &CallContext) -> Msg {
    let partial = cx.take_partial().map(Arc::unwrap_or_clone);
    let mut reply =
        partial.unwrap_or_else(|| Msg::from_blocks(Role::Assistant, cx.agent_name(), Vec::new()));
    // Its tool calls have results in memory by now.
    reply.content.retain(|block| !matches!(block, ContentBlock::ToolUse(_)));
    Msg { reason: Some(GenerateReason::Interrupted), usage: Some(cx.usage()), ..reply }
}
