//! The mutable state of a call: for hooks, for sub-agents, and for its own end.

use std::any::Any;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hooks_core::BoxError;
use smallvec::SmallVec;

use crate::call::context::CallContext;
use crate::call::hook_state::HookStates;
use crate::call::marks::{NOTHING, PART, WHOLE};
use crate::call::notes::Teller;
use crate::call::owner::CounterClaim;
use crate::call::resumed::Resumed;
use crate::call::values::Values;
use crate::memory::{Confirmed, Memory, Through, is_within};
use crate::message::{Msg, PendingCall, open_calls};
use crate::usage::Usage;

/// The error of a hook that failed while it handled the error of a call.
pub type HookFailure = Arc<dyn Error + Send + Sync>;

/// How many failures of error hooks a call keeps; all are reported through `tracing`.
const MOST_FAILURES: usize = 64;

/// The mutable state of a call.
#[derive(Default)]
pub(super) struct State {
    pub(super) values: Values,
    pub(super) hook_states: HookStates,
    /// What tells people of tool calls that wait.
    pub(super) tellers: Vec<Teller>,
    pub(super) usage: Usage,
    /// The ids of the tool calls whose tools started and that have no result yet.
    pub(super) started: SmallVec<[Arc<str>; 2]>,
    pub(super) system: Option<Arc<Msg>>,
    /// The memory of the thread, once it is needed.
    pub(super) memory: Option<Arc<Memory>>,
    /// What the call resumes.
    pub(super) resumed: Resumed,
    /// The call that polls this one.
    pub(super) polled_by: Option<CallContext>,
    /// The tool calls that the call leaves waiting.
    pub(super) waiting: Vec<PendingCall>,
    /// The part of an answer up to where the model was dropped.
    pub(super) unfinished: Option<Arc<Msg>>,
    /// What an interrupted call returns.
    pub(super) partial: Option<Arc<Msg>>,
    /// The event hooks of the agent, for agents that it calls.
    pub(super) hooks: Option<Arc<dyn Any + Send + Sync>>,
    /// The failures of error hooks.
    pub(super) hook_failures: Vec<HookFailure>,
    /// Where hooks count.
    pub(super) claims: Vec<CounterClaim>,
}

/// An answer whose hooks have not all run.
#[derive(Default)]
pub(crate) enum Unfinished {
    /// The model has not answered.
    #[default]
    Nothing,
    /// The answer up to where the model was dropped.
    Partial(Arc<Msg>),
    /// The answer is complete; hooks hold it.
    Whole,
}

impl CallContext {
    /// Adds token usage to that of this call and of the calls that it is part of. The agent adds
    /// what its model reports; a hook or a tool adds the usage of a model that it calls itself.
    pub fn add_usage(&self, usage: Usage) {
        self.state().usage += usage;
        if let Some(parent) = self.parent() {
            parent.add_usage(usage);
        }
    }

    /// Sets the memory of the thread.
    pub(crate) fn set_memory(&self, memory: Arc<Memory>) {
        self.state().memory = Some(memory);
    }

    /// Counts a tool call that passed its permission check, and returns its number, from 1.
    pub(crate) fn next_tool_call(&self) -> u64 {
        self.call.marks.tool_calls.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Notes that a tool starts.
    pub(crate) fn start_tool(&self, tool_call_id: &Arc<str>) {
        self.state().started.push(tool_call_id.clone());
    }

    /// Notes that a tool call has a result. Returns whether its tool had started.
    pub(crate) fn answer_started(&self, tool_call_id: &str) -> bool {
        let started = &mut self.state().started;
        let before = started.len();
        started.retain(|id| **id != *tool_call_id);
        started.len() != before
    }

    pub(crate) fn system(&self) -> Option<Arc<Msg>> {
        if self.call.marks.has_system.is_set() { self.state().system.clone() } else { None }
    }

    pub(crate) fn set_system(&self, system: Option<Arc<Msg>>) {
        let has_system = system.is_some();
        self.state().system = system;
        self.call.marks.has_system.set(has_system);
    }

    /// Records whether error hooks received the error of the call where it happened.
    pub(crate) fn set_told(&self, is_told: bool) {
        self.call.marks.is_told.set(is_told);
    }

    /// Returns whether error hooks received the error of the call where it happened.
    pub(crate) fn is_told(&self) -> bool {
        self.call.marks.is_told.is_set()
    }

    /// Records the failure of an error hook, which does not replace the error that it handled.
    pub(crate) fn add_hook_failure(&self, failure: BoxError) {
        let error = &*failure as &dyn Error;
        tracing::warn!(
            target: "hooks_agent::call",
            agent = self.agent_name(), error, "a hook at ERROR failed"
        );
        let failures = &mut self.state().hook_failures;
        if failures.len() < MOST_FAILURES {
            failures.push(failure.into());
        }
    }

    /// Returns the id of the tool call that this call serves: the tool call of the
    /// [parent](Self::parent) that runs the agent, as [`AgentTool`](crate::react::AgentTool) does, or
    /// a tool that passes [`child_of`](crate::call::CallOptions::child_of) its context. `None` for
    /// other calls. It is unique within one answer of the parent's model.
    ///
    /// ```
    /// use hooks_agent::prelude::*;
    /// # use serde_json::json;
    ///
    /// # futures::executor::block_on(async {
    /// let served = on(|event: &mut PostCall<'_>| {
    ///     let served = event.context().tool_call_id().unwrap_or("nobody").to_owned();
    ///     event.final_message_mut().push_text(&format!(" for {served}"));
    /// });
    /// let poet = ScriptedModel::new("poet", |_| "A poem");
    /// let poet = ReActAgent::builder("poet").model(poet).hook(served).build()?;
    /// // `model` calls the tool by `call_7` and answers with the result.
    /// # let model = ScriptedModel::new("editor", |request| -> ScriptedAnswer {
    /// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
    /// #         Some(result) => result.output.as_str().into(),
    /// #         None => ToolUse::new("call_7", "poet", json!({ "task": "a poem" })).into(),
    /// #     }
    /// # });
    /// let tool = poet.to_tool("Writes poems");
    /// let editor = ReActAgent::builder("editor").model(model).tool(tool).build()?;
    /// assert_eq!(editor.call("I want a poem").await?.text(), "A poem for call_7");
    /// assert_eq!(poet.call("I want a poem").await?.text(), "A poem for nobody");
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn tool_call_id(&self) -> Option<&str> {
        self.shared_tool_call_id().map(|id| &**id)
    }

    pub(super) fn shared_tool_call_id(&self) -> Option<&Arc<str>> {
        let through = self.through().map(|through| &through.call);
        through.or_else(|| Some(self.parent()?.checked()?.id()))
    }

    /// Returns the tool call that runs the agent, if it is a tool.
    pub(crate) fn through(&self) -> Option<&Through> {
        self.call.through.as_ref()
    }

    /// Sets the event hooks of the agent, for agents that it calls.
    pub(crate) fn set_hooks(&self, hooks: Arc<dyn Any + Send + Sync>) {
        self.state().hooks = Some(hooks);
    }

    /// Returns the event hooks of the agent, for agents that it calls.
    pub(crate) fn hooks(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        self.state().hooks.clone()
    }

    /// Sets who watches the event hooks of the call, once.
    pub(crate) fn set_watchers(&self, watchers: Arc<dyn Any + Send + Sync>) {
        let _ = self.call.watchers.set(watchers);
    }

    /// Returns who watches the event hooks of the call.
    pub(crate) fn watchers(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.call.watchers.get().map(|watchers| &**watchers)
    }

    /// Returns the ids of the tool calls that the caller [confirmed](crate::call::CallOptions::confirm),
    /// before they are checked.
    pub fn confirms(&self) -> impl Iterator<Item = &str> {
        self.confirmed_calls().iter().map(|confirmed| &*confirmed.id)
    }

    /// Returns what the caller confirmed, before it is checked.
    pub(crate) fn confirmed_calls(&self) -> &[Confirmed] {
        &self.call.confirms
    }

    /// Sets the tool calls that the call leaves waiting.
    pub(crate) fn set_waiting(&self, waiting: Vec<PendingCall>) {
        let (is_waiting, mark) = (!waiting.is_empty(), &self.call.marks.is_waiting);
        if is_waiting || mark.is_set() {
            self.state().waiting = waiting;
            mark.set(is_waiting);
        }
    }

    /// Returns the tool calls that the call leaves waiting, whatever hooks made of its reply, except
    /// those that were answered since.
    pub(crate) fn waiting(&self) -> Vec<PendingCall> {
        if !self.call.marks.is_waiting.is_set() {
            return Vec::new();
        }
        let waiting = self.state().waiting.clone();
        let Some(memory) = self.memory() else { return waiting };
        let open = open_calls(&memory.messages());
        let is_open = |it: &PendingCall| open.iter().any(|call| is_within(&it.id, &call.id));
        waiting.into_iter().filter(is_open).collect()
    }

    /// Sets the answer whose hooks have not all run.
    pub(crate) fn set_unfinished(&self, unfinished: Unfinished) {
        let mark = match unfinished {
            Unfinished::Nothing => NOTHING,
            Unfinished::Partial(part) => {
                self.state().unfinished = Some(part);
                PART
            }
            Unfinished::Whole => WHOLE,
        };
        self.call.marks.unfinished.store(mark, Ordering::Release);
    }

    /// Takes the answer whose hooks have not all run.
    pub(crate) fn take_unfinished(&self) -> Unfinished {
        let mark = &self.call.marks.unfinished;
        let taken = match mark.load(Ordering::Acquire) {
            NOTHING => return Unfinished::Nothing,
            PART => self.state().unfinished.take().map_or(Unfinished::Nothing, Unfinished::Partial),
            _ => Unfinished::Whole,
        };
        mark.store(NOTHING, Ordering::Release);
        taken
    }

    /// Sets what the call returns if it is interrupted.
    pub(crate) fn set_partial(&self, partial: Arc<Msg>) {
        self.state().partial = Some(partial);
    }

    /// Takes what an interrupted call returns, unless hooks review replies and have not seen it.
    pub(crate) fn take_partial(&self) -> Option<Arc<Msg>> {
        let partial = self.state().partial.take();
        partial.filter(|_| !self.call.marks.has_reviewers.is_set())
    }

    /// Records whether hooks review the replies of the call.
    pub(crate) fn set_has_reviewers(&self, has_reviewers: bool) {
        if has_reviewers {
            self.call.marks.has_reviewers.set(true);
        }
    }
}
