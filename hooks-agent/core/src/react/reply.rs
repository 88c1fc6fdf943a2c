//! The agent as an [`Agent`]: how it replies.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hooks_core::{BoxFuture, Hookable, hookable};

use crate::agent::{Agent, AgentState, CallOutcome, write_stored};
use crate::call::{CallContext, ForeignGuards};
use crate::error::{AgentError, InputError};
use crate::hook::{AgentHook, CallWatchers, HookList, SharedHooks, lost_of_class, watch_class};
use crate::memory::{FindMemory, Memory};
use crate::message::{Messages, Msg};
use crate::model::ToolSpec;
use crate::react::agent::ReActAgent;
use crate::react::agent_tool::AgentTool;
use crate::react::journaled::JournalHook;
use crate::store::{Step, StoreError, ThreadKey};
use crate::tool::Tool;

#[hookable]
impl Agent for ReActAgent {
    fn state(&self) -> &AgentState {
        &self.core.state
    }

    /// Reasons and acts in turns until the model answers without tool calls.
    ///
    /// # Errors
    /// The errors of the model and of hooks. [`AgentError::Input`] if the messages are invalid, as
    /// the table of [`ReActAgent`] lists. [`AgentError::TooManyJumps`] if hooks jump too many times
    /// in a row. A failed tool does not fail the call: the model reads its error.
    async fn reply(&self, cx: CallContext, messages: Messages) -> Result<Msg, AgentError> {
        self.run(cx, messages).await
    }

    fn find_tool(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tool(name)
    }

    fn runs_tools_at_once(&self) -> bool {
        self.core.runs_tools_at_once
    }

    /// Appends the message to the memory of the thread.
    ///
    /// # Errors
    /// [`AgentError::Input`] for a system message, and for a message with tool calls or results:
    /// these belong to the agent that called.
    async fn observe(&self, cx: CallContext, msg: Msg) -> Result<(), AgentError> {
        let messages = Messages::from(msg);
        InputError::check_appended(&[], &messages)?;
        let memory = self.memory_of_call(&cx);
        match self.core.threads.stored() {
            None => {
                cx.claim_thread(&memory, true)?;
                memory.extend(messages);
            }
            Some(durable) => {
                // A call of this process that runs on the thread writes the message.
                let mut turn = None;
                if !durable.is_running(&cx) {
                    turn = Some(self.core.threads.turns().take(&cx).await?);
                }
                let observed = Box::pin(durable.observe(&cx, &memory, messages)).await;
                drop(turn);
                observed?;
            }
        }
        Ok(())
    }

    fn print(&self, text: &str) {
        if let Some(printer) = &self.core.printer {
            printer(text);
        }
    }

    /// Answers the tool calls that were to wait, if the call did not finish.
    #[hook]
    fn settled(&self, cx: CallContext, outcome: CallOutcome) {
        if matches!(outcome, CallOutcome::Finished(_)) {
            return;
        }
        let asking = cx.begun_memory().and_then(|memory| memory.asking());
        if asking.is_some_and(|asking| asking.run == cx.run_id()) {
            self.give_up_calls(&cx);
        }
    }

    fn begin(&self, cx: &CallContext) -> Option<Arc<dyn Agent>> {
        let chosen = self.with_chosen_hooks(cx);
        let base = chosen.as_deref().unwrap_or(self);
        let callers = std::iter::successors(cx.parent(), |caller| caller.parent());
        let mut inherited = HookList::default();
        for caller in callers {
            let hooks = caller.hooks().map(Arc::downcast::<SharedHooks>);
            if let Some(Ok(hooks)) = hooks {
                inherited.inherit(&hooks.lock(), caller);
            }
        }
        if chosen.is_some() {
            // A source may choose the same hook for both.
            inherited.remove_all(&base.event_hooks.lock());
        }
        let mut watchers = CallWatchers::default();
        let mut guards = ForeignGuards::default();
        base.event_hooks.watch(&mut watchers, &mut guards);
        inherited.watch(&mut watchers, &mut guards);
        watch_class::<Self>(&mut watchers, &mut guards);
        watchers.watch(cx);
        cx.set_foreign_guards(guards);
        if let Some(journal) = JournalHook::of(cx) {
            if journal.outlives_process() {
                base.report_lost(&inherited);
            }
            inherited.add(journal.__share());
        }
        let governed = if inherited.is_empty() {
            chosen.clone()
        } else {
            // The list of its own hooks alone: sub-agents read the lists of all their callers.
            let (core, event_hooks) = (base.core.clone(), base.event_hooks.clone());
            let (hooks, chosen) = (base.hooks.clone(), base.chosen.clone());
            let agent = Self { core, event_hooks, chosen, hooks };
            inherited.install(&agent);
            Some(Arc::new(agent))
        };
        let refusing = governed.as_deref().unwrap_or(base).refusing(&inherited);
        let governed = refusing.or(governed);
        let agent = governed.as_deref().unwrap_or(self);
        cx.set_hooks(agent.event_hooks.clone());
        cx.set_has_reviewers(agent.has_reviewers());
        governed.map(|agent| -> Arc<dyn Agent> { agent })
    }

    fn has_whole_call(&self) -> bool {
        self.has_hooks(Self::AROUND_WHOLE_CALL)
    }

    fn run_whole_call(
        &self,
        cx: CallContext,
        messages: Messages,
    ) -> BoxFuture<'_, Result<Msg, AgentError>> {
        Box::pin(self.whole_call(cx, messages))
    }

    fn hold(&self, cx: &CallContext) -> Option<Arc<Memory>> {
        self.core.threads.memory(cx.named_thread()?)
    }

    fn has_reviewers(&self) -> bool {
        self.has_hooks(Self::POST_REPLY)
            || self.has_hooks(Self::AROUND_REPLY)
            || self.has_hooks(Self::AROUND_WHOLE_CALL)
    }

    fn system_message(&self) -> Option<Arc<Msg>> {
        self.core.system.clone()
    }

    fn tool_names(&self, below: bool) -> Option<Vec<String>> {
        let mut names: Vec<_> = self.core.specs.iter().map(|tool| tool.name.clone()).collect();
        for agent in self.sub_agents().filter(|_| below) {
            names.extend(agent.tool_names(true)?);
        }
        Some(names)
    }

    fn is_stored(&self, below: bool) -> bool {
        let mut agents = self.sub_agents().filter(|_| below);
        self.core.threads.stored().is_some() || agents.any(|agent| agent.is_stored(true))
    }

    fn tool_specs(&self) -> &[ToolSpec] {
        &self.core.specs[..self.core.own_tools]
    }

    fn write_thread<'a>(
        &'a self,
        key: &'a ThreadKey,
        step: &'a Step,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        if key.agent() != self.name() {
            return Box::pin(async {
                for agent in self.sub_agents() {
                    agent.write_thread(key, step).await?;
                }
                Ok(())
            });
        }
        write_stored(self, key, step)
    }

    fn memory_of(&self, cx: &CallContext) -> Option<Arc<Memory>> {
        Some(self.memory_of_call(cx))
    }

    fn threads_by_id(&self) -> Option<Arc<dyn FindMemory>> {
        Some(self.core.threads.clone())
    }
}

impl ReActAgent {
    /// Returns the agents that are tools of this one.
    fn sub_agents(&self) -> impl Iterator<Item = &ReActAgent> {
        self.core.tools.iter().filter_map(|tool| {
            let tool: &dyn Any = &**tool;
            tool.downcast_ref().map(AgentTool::agent)
        })
    }

    /// Reports the hooks of a call that lose with the process what they keep, once.
    fn report_lost(&self, inherited: &HookList) {
        if self.core.has_reported.load(Ordering::Relaxed) {
            return;
        }
        let mut lost: Vec<_> = self.event_hooks.lock().lost().chain(inherited.lost()).collect();
        lost.extend(lost_of_class::<Self>());
        if lost.is_empty() || self.core.has_reported.swap(true, Ordering::Relaxed) {
            return;
        }
        for (hook, reason) in lost {
            let agent = self.name();
            tracing::warn!(
                target: "hooks_agent::react",
                agent, hook, reason, "a journal outlives what a hook keeps"
            );
        }
    }

    /// Returns the memory of the thread of a call; the context may be that of another agent's call.
    pub(super) fn memory_of_call(&self, cx: &CallContext) -> Arc<Memory> {
        let own = (cx.agent_id() == self.id()).then(|| cx.memory()).flatten();
        own.unwrap_or_else(|| self.core.threads.of_call(cx.named_thread()))
    }
}
