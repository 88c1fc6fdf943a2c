//! The agent as an [`Agent`]: how it replies.

use std::any::Any;
use std::sync::Arc;

use hooks_core::{BoxFuture, Hookable, hookable};

use crate::agent::{Agent, AgentState, CallOutcome, write_stored};
use crate::call::{CallContext, ForeignGuards};
use crate::error::{AgentError, InputError};
use crate::hook::{CallWatchers, HookList, SharedHooks, watch_class};
use crate::journal::JournalHook;
use crate::memory::{FindMemory, Memory};
use crate::message::{Messages, Msg};
use crate::model::ToolSpec;
use crate::react::agent::ReActAgent;
use crate::react::agent_tool::AgentTool;
use crate::store::{Step, StoreError, ThreadKey};

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
                cx.claim_thread(&memory)?;
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
        let memory = match cx.journal() {
            Some(_) => cx.memory(),
            None => self.core.threads.memory(cx.thread_id()),
        };
        let asking = memory.and_then(|memory| memory.asking());
        if asking.is_some_and(|asking| asking.run == cx.run_id()) {
            self.give_up_calls(&cx);
        }
    }

    fn begin(&self, cx: &CallContext) -> Option<Arc<dyn Agent>> {
        let chosen = self.with_chosen_hooks(cx);
        let base = chosen.as_deref().unwrap_or(self);
        let callers = std::iter::successors(cx.parent(), |caller| caller.parent());
        let mut inherited = HookList::default();
        for hooks in callers.filter_map(CallContext::hooks) {
            if let Ok(hooks) = hooks.downcast::<SharedHooks<Self>>() {
                inherited.inherit(&hooks.lock());
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
        if let Some(journal) = cx.journal() {
            inherited.add(JournalHook::new(journal));
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
        let agent = governed.as_deref().unwrap_or(self);
        cx.set_hooks(agent.event_hooks.clone());
        cx.set_has_reviewers(agent.has_reviewers());
        governed.map(|agent| -> Arc<dyn Agent> { agent })
    }

    fn hold(&self, cx: &CallContext) -> Option<Arc<Memory>> {
        self.core.threads.memory(cx.named_thread()?)
    }

    fn has_reviewers(&self) -> bool {
        self.has_hooks(Self::POST_REPLY) || self.has_hooks(Self::AROUND_REPLY)
    }

    fn system_message(&self) -> Option<Arc<Msg>> {
        self.core.system.clone()
    }

    fn tool_names(&self, below: bool) -> Option<Vec<String>> {
        let mut names: Vec<_> = self.core.specs.iter().map(|tool| tool.name.clone()).collect();
        let agents = self.core.tools.iter().filter_map(|tool| {
            let tool: &dyn Any = &**tool;
            tool.downcast_ref::<AgentTool>()
        });
        for agent in agents.filter(|_| below) {
            names.extend(agent.agent().tool_names(true)?);
        }
        Some(names)
    }

    fn is_stored(&self) -> bool {
        self.core.threads.stored().is_some()
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
            let agents = self.core.tools.iter().filter_map(|tool| {
                let tool: &dyn Any = &**tool;
                tool.downcast_ref::<AgentTool>()
            });
            return Box::pin(async {
                for tool in agents {
                    tool.agent().write_thread(key, step).await?;
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
    /// Returns the memory of the thread of a call; the context may be that of another agent's call.
    pub(super) fn memory_of_call(&self, cx: &CallContext) -> Arc<Memory> {
        let own = (cx.agent_id() == self.id()).then(|| cx.memory()).flatten();
        own.unwrap_or_else(|| self.core.threads.of_call(cx.named_thread()))
    }
}
