//! Options of a call.

mod mode;

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::call::context::CallContext;
use crate::call::interrupt::Interrupt;
use crate::call::stream::EventSink;
use crate::call::values::Values;
use crate::identity::User;
use crate::journal::Journal;
use crate::memory::Confirmed;
use crate::run_id::RunId;
use crate::store::{Claim, Decision, Ledger, Verdict};

pub use mode::RunMode;

/// Options of a call.
///
/// ```
/// use hooks_agent::prelude::*;
///
/// struct User(&'static str);
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("counter", |request| request.messages.len().to_string());
/// let agent = ReActAgent::builder("assistant").model(model).build()?;
/// let on = |thread: &str| CallOptions::new().thread(thread).value(User("ada"));
/// assert_eq!(agent.call_with(on("a"), Msg::user("hi")).await?.text(), "1");
/// assert_eq!(agent.call_with(on("b"), Msg::user("hi")).await?.text(), "1");
/// assert_eq!(agent.call_with(on("a"), Msg::user("hi")).await?.text(), "3");
/// # Ok::<(), hooks_agent::error::AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct CallOptions {
    pub(super) run: Option<RunId>,
    pub(super) thread: Option<Arc<str>>,
    pub(super) interrupt: Option<Interrupt>,
    pub(super) values: Values,
    pub(super) confirmed: Vec<Confirmed>,
    pub(super) queue_timeout: Option<Duration>,
    pub(super) parent: Option<CallContext>,
    pub(super) through: Option<Arc<str>>,
    pub(super) key: Option<Arc<str>>,
    pub(super) events: Option<EventSink>,
    pub(super) verdicts: Vec<Verdict>,
    pub(super) user: Option<User>,
    pub(super) takes_over: bool,
    pub(super) mode: Option<RunMode>,
    pub(super) only_unfinished: bool,
    pub(super) journal: Option<Arc<dyn Journal>>,
    /// Whether the options are those of a call, and not of a context alone.
    pub(super) is_call: bool,
    /// Cancelled when the agent shuts down.
    pub(super) shutdown: CancellationToken,
    /// Where quotas are counted, if it is in the process.
    pub(super) ledger: Option<Arc<Ledger>>,
}

impl CallOptions {
    /// Creates options with the thread `default` and nothing else.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the thread of the call. Each thread has its own memory. Calls on one thread queue;
    /// calls on different threads run at once.
    pub fn thread(mut self, id: impl Into<Arc<str>>) -> Self {
        self.thread = Some(id.into());
        self
    }

    /// Sets the id of the call, instead of a random one. For a program that repeats a call after a
    /// crash: the [keys](crate::tool::ToolContext::idempotency_key) of its tool calls stay the same.
    ///
    /// The id is of this call alone: [sub-agents](Self::child_of) and calls that are
    /// [forwarded](Self::forward) have ids of their own. No two different calls may have one id;
    /// hooks that keep something for each call take them for one.
    ///
    /// ```
    /// use hooks_agent::call::RunId;
    /// use hooks_agent::prelude::*;
    /// # use serde_json::{Value, json};
    ///
    /// # futures::executor::block_on(async {
    /// let pay = FunctionTool::with_context("pay", "Pays.", async |_: Value, cx: ToolContext| {
    ///     cx.idempotency_key()
    /// });
    /// // `model` calls the tool and answers with the result.
    /// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
    /// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
    /// #         Some(result) => result.output.as_str().into(),
    /// #         None => ToolUse::new("1", "pay", json!({})).into(),
    /// #     }
    /// # });
    /// let agent = ReActAgent::builder("bot").model(model).tool(pay).build()?;
    /// let run: RunId = "6f1c2d3e-0a4b-4c5d-8e6f-708192a3b4c5".parse()?;
    /// let reply = agent.call_with(CallOptions::new().run_id(run), "Pay").await?;
    /// assert_eq!(reply.text(), "6f1c2d3e-0a4b-4c5d-8e6f-708192a3b4c5-1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn run_id(mut self, id: RunId) -> Self {
        self.run = Some(id);
        self
    }

    /// Adds a value that hooks and tools of this call can [get](CallContext::get), one of each
    /// type. The type is the key: get an `Arc<User>` as `Arc<User>`, a `User` as `User`.
    pub fn value<T: Any + Send + Sync>(mut self, value: T) -> Self {
        self.values.insert(value);
        self
    }

    /// Sets what interrupts the call from outside.
    pub fn interrupt(mut self, interrupt: Interrupt) -> Self {
        self.interrupt = Some(interrupt);
        self
    }

    /// Sets how long the call may wait for earlier calls on its thread. A call that waits longer
    /// fails with [`AgentError::QueueTimeout`](crate::error::AgentError::QueueTimeout). Requires a
    /// runtime of tokio with time enabled.
    pub fn queue_timeout(mut self, timeout: Duration) -> Self {
        self.queue_timeout = Some(timeout);
        self
    }

    /// Confirms that the waiting tool call of this [id](crate::message::PendingCall::id) may run, to those who
    /// [ask](crate::message::PendingCall::askers) about it: a tool that [asks](crate::tool::Permission::Ask)
    /// runs, and hooks read it by [`is_answered`](crate::event::PreActing::is_answered). A hook that was not
    /// shown, such as one that has had no turn yet, asks again. Applies to this call only.
    ///
    /// An id that does not wait fails the call with
    /// [`InputError::UnknownConfirmations`](crate::error::InputError::UnknownConfirmations), and one that
    /// [waits for somebody else](crate::message::Approvers) with
    /// [`InputError::NotApprover`](crate::error::InputError::NotApprover). What waits is what runs: a tool that is
    /// another one by then, or arguments of which hooks before the tool have made others, do not run, and the
    /// model reads why. What hooks [around](crate::hook::ToolCall) the tool add is excepted.
    pub fn confirm(mut self, tool_call_id: impl Into<String>) -> Self {
        self.confirmed.push(Confirmed::from(tool_call_id.into()));
        self
    }

    /// Confirms like [`confirm`](Self::confirm), with these arguments in place of the model's. Hooks of
    /// `PreActing` see them, the tool runs with exactly these or not at all, and the model reads that they
    /// were edited.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    /// use serde_json::{Value, json};
    ///
    /// # futures::executor::block_on(async {
    /// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
    /// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
    /// #         Some(result) => result.output.as_str().into(),
    /// #         None => ToolUse::new("1", "pay", json!({ "euros": 12 })).into(),
    /// #     }
    /// # });
    /// // `model` calls the tool `pay` with 12 euros.
    /// let pay = FunctionTool::new("pay", "Pays.", async |it: Value| format!("paid {}", it["euros"]));
    /// let pay = pay.permission(|_| Permission::Ask);
    /// let agent = ReActAgent::builder("clerk").model(model).tool(pay).build()?;
    /// let reply = agent.call("Pay the baker").await?;
    /// let id = &reply.pending()[0].id;
    /// let options = CallOptions::new().confirm_edited(id, json!({ "euros": 10 }));
    /// assert!(agent.resume(options).await?.text().ends_with("paid 10"));
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    pub fn confirm_edited(
        mut self,
        tool_call_id: impl Into<String>,
        arguments: impl Into<Value>,
    ) -> Self {
        let edited = Some(arguments.into());
        self.confirmed.push(Confirmed { edited, ..Confirmed::from(tool_call_id.into()) });
        self
    }

    /// Decides about a tool call that waits, by the [id](crate::store::Waiting::id) of its question. The
    /// [id](crate::store::Waiting::call_id) of the tool call is taken too, if one question of the thread
    /// is about it; it says nothing of the arguments that a person saw, which the id of the question does.
    ///
    /// The decisions of a call are checked and stored together: if one is refused, the call fails with
    /// [`StoreError::Decision`](crate::store::StoreError::Decision) and nothing changes. While other
    /// questions of the same answer are open, the call returns with those that still wait.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    /// use hooks_agent::store::{Decision, Filter, Store};
    /// use hooks_agent::thread::MemoryStore;
    /// # use serde_json::{Value, json};
    ///
    /// # futures::executor::block_on(async {
    /// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
    /// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
    /// #         Some(result) => result.output.as_str().into(),
    /// #         None => ToolUse::new("1", "pay", json!({ "euros": 12 })).into(),
    /// #     }
    /// # });
    /// # let pay = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
    /// let store = MemoryStore::new();
    /// let ask = on(|event: &mut PreActing<'_>| event.ask("every tool needs approval"));
    /// let agent =
    ///     ReActAgent::builder("clerk").model(model).tool(pay).hook(ask).store(store.clone()).build()?;
    /// agent.call("Pay the baker").await?;
    ///
    /// let waiting = store.waiting(Filter::agent("clerk")).await?;
    /// let options = CallOptions::new().decide(&*waiting[0].id, Decision::Approve);
    /// assert_eq!(agent.resume(options).await?.text(), "paid");
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    pub fn decide(self, id: impl Into<Arc<str>>, decision: Decision) -> Self {
        self.verdict(Verdict::new(id, decision))
    }

    /// Decides about a tool call that waits, like [`decide`](Self::decide), and says who decides.
    pub fn verdict(mut self, verdict: Verdict) -> Self {
        self.verdicts.push(verdict);
        self
    }

    /// Sets the user of the call, as the program has authenticated it: an id, or a [`User`] with roles. Calls
    /// that are [part](Self::child_of) of this one have the same user, unless they name another.
    ///
    /// A thread is of the user whose call began it, by whose id a [store](crate::store::Filter::user) finds
    /// it. A call of another user fails with [`StoreError::OtherUser`](crate::store::StoreError::OtherUser)
    /// and changes nothing, as does a call with messages and without a user. A call that goes on with the
    /// thread, without messages, is one of the user that the thread has. A thread that was begun without a user
    /// becomes one of a user by [`take_over`](Self::take_over) alone.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    /// use hooks_agent::store::StoreError;
    ///
    /// # futures::executor::block_on(async {
    /// # let model = ScriptedModel::new("fixed", |_| "Done.");
    /// let agent = ReActAgent::builder("assistant").model(model).build()?;
    /// let of = |user: &str| CallOptions::new().thread("7").user(user);
    /// agent.call_with(of("ada"), "Hello").await?;
    /// let refused = agent.call_with(of("bob"), "What did she say?").await.unwrap_err();
    /// assert!(matches!(refused, AgentError::Store(StoreError::OtherUser { .. })));
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    pub fn user(mut self, user: impl Into<User>) -> Self {
        self.user = Some(user.into());
        self
    }

    /// Sets whether the call makes a thread of another user, or of none, one of its own [user](Self::user),
    /// with all that was said in it. Default: no.
    pub fn take_over(mut self, takes_over: bool) -> Self {
        self.takes_over = takes_over;
        self
    }

    /// Sets what the call may do without asking. The default is that of the call that this one is
    /// [part](Self::child_of) of, or [`RunMode::Ask`]. A call that is part of one that
    /// [plans](RunMode::Plan) plans too.
    pub fn mode(mut self, mode: RunMode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Lets the call do something only if the thread has something to go on with when its turn comes: a
    /// call that was cut off or failed, tool calls that wait, or messages without an answer. Else it fails
    /// with [`InputError::NothingToResume`](crate::error::InputError::NothingToResume) before any hook
    /// runs. For workers that [resume](crate::agent::AgentExt::resume) what they find: another may have
    /// done it since. Without it, a call without messages asks the model once more.
    ///
    /// ```
    /// use hooks_agent::error::InputError;
    /// use hooks_agent::prelude::*;
    ///
    /// # futures::executor::block_on(async {
    /// let model = ScriptedModel::new("fixed", |_| "Done.");
    /// let agent = ReActAgent::builder("assistant").model(model).build()?;
    /// agent.call("Go").await?;
    /// let error = agent.resume(CallOptions::new().only_unfinished()).await.unwrap_err();
    /// assert!(matches!(error, AgentError::Input(InputError::NothingToResume { .. })));
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    pub fn only_unfinished(mut self) -> Self {
        self.only_unfinished = true;
        self
    }

    /// Makes the call part of another: the parent's values, its interrupt and its
    /// [inherited](crate::hook::AgentHook::inherit) hooks apply to it, and the parent's stream gets
    /// the events of both. The hooks apply to calls by [`AgentExt`](crate::agent::AgentExt); a
    /// sub-agent that inherits hooks runs with the hooks that there were when its call started.
    /// [`to_tool`](crate::react::ReActAgent::to_tool) calls agents this way.
    pub fn child_of(mut self, parent: &CallContext) -> Self {
        self.parent = Some(parent.clone());
        self
    }

    /// Makes the call stand for another: it is [part](Self::child_of) of it, and has its
    /// [confirmations](Self::confirm). For an agent of your own that passes its calls on to another
    /// agent.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    ///
    /// #[derive(Hookable)]
    /// struct Router {
    ///     state: AgentState,
    ///     clerk: ReActAgent,
    ///     hooks: Hooks,
    /// }
    ///
    /// #[hookable]
    /// impl Agent for Router {
    ///     fn state(&self) -> &AgentState {
    ///         &self.state
    ///     }
    ///
    ///     async fn reply(&self, cx: CallContext, messages: Messages) -> Result<Msg, AgentError> {
    ///         // A call that resumes another has no messages, or results of tool calls.
    ///         self.clerk.call_with(CallOptions::new().forward(&cx), messages).await
    ///     }
    /// }
    /// ```
    pub fn forward(mut self, call: &CallContext) -> Self {
        self.confirmed.extend(call.confirmed_calls().iter().cloned());
        self.child_of(call)
    }

    /// Keeps the steps of the call in a journal, so that a durable engine can run the call again where
    /// it was cut off; the calls of sub-agents too. [`Journal`] says what an engine has to do, and
    /// [the guide] what holds when.
    ///
    /// [the guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/journal/index.html
    ///
    /// Set the same [run id](Self::run_id) in each run of the call.
    pub fn journal(mut self, journal: impl Journal) -> Self {
        self.journal = Some(Arc::new(journal));
        self
    }

    /// Marks the options as those of a call.
    pub(crate) fn of_call(mut self) -> Self {
        self.is_call = true;
        self
    }

    /// Returns the thread and the claim of who says something to the call that runs on it.
    pub(crate) fn steering(self) -> (Arc<str>, Claim) {
        let thread = self.thread.unwrap_or_else(|| CallContext::DEFAULT_THREAD.into());
        let user = self.user.filter(|user| user.is_known() && !user.id().is_empty());
        let claim = Claim { takes_over: self.takes_over, ..Claim::new() };
        (thread, user.iter().fold(claim, |claim, user| claim.user(user.shared_id())))
    }

    /// Sets what is cancelled when the agent shuts down.
    pub(crate) fn shut_down_by(mut self, begun: &CancellationToken) -> Self {
        self.shutdown = begun.clone();
        self
    }

    /// Sets where quotas are counted, if it is in the process.
    pub(crate) fn counted_by(mut self, ledger: Option<&Arc<Ledger>>) -> Self {
        self.ledger = ledger.cloned();
        self
    }

    pub(crate) fn confirmed(mut self, confirmed: Confirmed) -> Self {
        self.confirmed.push(confirmed);
        self
    }

    /// Names the tool call of the parent that runs the agent, and its idempotency key.
    pub(crate) fn through(mut self, call: &str, key: Option<Arc<str>>) -> Self {
        self.through = Some(call.into());
        self.key = key;
        self
    }

    pub(crate) fn events(mut self, events: EventSink) -> Self {
        self.events = Some(events);
        self
    }
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("run", &self.run)
            .field("thread", &self.thread)
            .field("confirmed", &self.confirmed)
            .field("parent", &self.parent)
            .finish_non_exhaustive()
    }
}
