//! The loop of reasoning and acting.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::FuturesUnordered;

use crate::agent::Agent;
use crate::call::CallContext;
use crate::error::{AgentError, InputError};
use crate::memory::Memory;
use crate::message::{
    ContentBlock, GenerateReason, Messages, Msg, Role, ToolResult, ToolUse, unanswered_tool_uses,
};
use crate::react::admission::{admit, pending};
use crate::react::agent::ReActAgent;
use crate::react::batch::{Batch, make_ids_unique};
use crate::round::{Acted, ActingInput, Control, Jump, JumpTo, Reasoned, ReasoningInput};
use crate::stream::AgentEventKind;

/// A running call.
pub(super) struct Run<'a> {
    pub(super) agent: &'a ReActAgent,
    pub(super) cx: &'a CallContext,
    pub(super) memory: &'a Memory,
    iteration: usize,
    jumps: usize,
}

/// The next step of a call.
enum Step {
    Reason,
    Act(Vec<ToolUse>),
    End(Ended),
}

/// The end of a call: the reply and the reason.
pub(super) type Ended = (Arc<Msg>, GenerateReason);

impl ReActAgent {
    pub(super) async fn run(&self, cx: CallContext, input: Messages) -> Result<Msg, AgentError> {
        let memory = self.core.threads.memory(cx.named_thread());
        let open = admit(&memory, input, self.core.recovers_pending)?;
        let keep = KeepDraft { cx: &cx, memory: &memory };
        let run = Run { agent: self, cx: &cx, memory: &memory, iteration: 0, jumps: 0 };
        let ended = run.rounds(open).await;
        // The partial message of a failed model is not an answer.
        cx.take_draft();
        drop(keep);
        let (reply, reason) = ended?;
        cx.set_reason(reason);
        let reply = Arc::unwrap_or_clone(reply);
        Ok(Msg { reason: Some(reason), usage: Some(cx.usage()), ..reply })
    }
}

impl Run<'_> {
    async fn rounds(mut self, open: Vec<ToolUse>) -> Result<Ended, AgentError> {
        if !open.is_empty() {
            self.cx.set_confirmable(open.iter().map(|call| call.id.clone()).collect());
        }
        let mut step = if open.is_empty() { Step::Reason } else { Step::Act(open) };
        loop {
            step = match step {
                Step::Reason if self.iteration < self.agent.core.max_iters => {
                    self.cx.checkpoint().await;
                    self.iteration += 1;
                    self.reason().await?
                }
                // Rare steps are boxed, so that the future of other calls stays small.
                Step::Reason => return Box::pin(self.sum_up(self.iteration)).await,
                Step::Act(calls) => {
                    let batch = Batch::new(self.cx, self.memory, calls);
                    let next = self.act(batch).await?;
                    self.cx.set_confirmable(Vec::new());
                    next
                }
                Step::End(ended) => return Ok(ended),
            };
        }
    }

    /// Runs one round of reasoning and applies the decisions of its hooks.
    async fn reason(&mut self) -> Result<Step, AgentError> {
        let core = &self.agent.core;
        let input = ReasoningInput {
            model: core.model_name.clone(),
            messages: self.conversation().await?,
            system: self.system().await?,
            tools: core.specs.clone(),
            options: core.options.clone(),
            control: Control::default(),
        };
        self.cx.emit(|| AgentEventKind::ReasoningStarted).await;
        let reasoned = self.agent.reasoning(self.cx.clone(), input).await?;
        self.cx.take_draft();
        let Reasoned { message, control, .. } = reasoned;
        let Some(mut message) = message else { return self.before_the_model(&control) };

        make_ids_unique(&mut message);
        self.memory.add(message.clone());
        self.cx.set_partial(message.clone());
        let calls = message.tool_uses().cloned();
        let batch = Batch::new(self.cx, self.memory, calls);
        self.cx.emit(|| AgentEventKind::Reasoned(message.clone())).await;
        let text = message.text();
        if !text.is_empty() {
            self.agent.print(&text);
        }
        if control.stop {
            batch.wait();
            return Ok(Step::End((message, GenerateReason::ReasoningStopRequested)));
        }
        match control.jump {
            Some(Jump { to: JumpTo::End, .. }) => {
                batch.refuse("the run was ended before this call was answered");
                Ok(Step::End((message, GenerateReason::HookEnded)))
            }
            Some(Jump { to: JumpTo::Model, messages }) => self.ask_again(batch, &messages),
            Some(Jump { to: JumpTo::Tools, .. }) | None if batch.is_empty() => {
                Ok(Step::End((message, GenerateReason::ModelStop)))
            }
            Some(Jump { to: JumpTo::Tools, .. }) | None => {
                drop(message);
                self.act(batch).await
            }
        }
    }

    /// Applies the decisions of hooks before the model is called.
    fn before_the_model(&mut self, control: &Control) -> Result<Step, AgentError> {
        let last = |reason| Ok(Step::End((self.last_answer(), reason)));
        match control.jump {
            _ if control.stop => last(GenerateReason::ReasoningStopRequested),
            Some(Jump { to: JumpTo::Tools, .. }) => {
                self.jumped()?;
                let open = pending(&self.memory.messages());
                Ok(if open.is_empty() { Step::Reason } else { Step::Act(open) })
            }
            _ => last(GenerateReason::HookEnded),
        }
    }

    /// Appends the hook's messages to memory and jumps to the model.
    fn ask_again(&mut self, mut batch: Batch<'_>, messages: &Messages) -> Result<Step, AgentError> {
        let results: Vec<_> = messages.iter().flat_map(|msg| msg.tool_results()).collect();
        // Hooks after the one that jumped may have changed the tool calls.
        let calls: Vec<_> = batch.calls().map(|(_, call)| call).collect();
        InputError::check_results(&calls, &results)?;
        for msg in messages {
            self.memory.add(msg.clone());
        }
        batch.answered_by(messages);
        batch.refuse("a hook sent the run back to the model before this call was answered");
        self.jumped()?;
        Ok(Step::Reason)
    }

    /// Runs the tools of a batch and applies the decisions of their hooks.
    async fn act(&mut self, mut batch: Batch<'_>) -> Result<Step, AgentError> {
        let control = if self.agent.core.runs_tools_at_once {
            self.cx.checkpoint().await;
            Box::pin(self.act_at_once(&mut batch)).await?
        } else {
            self.act_in_turn(&mut batch).await?
        };
        let last = |msg: Option<Arc<Msg>>| msg.unwrap_or_else(|| self.last_answer());
        if control.stop || control.asks_permission {
            let reason = if control.stop {
                GenerateReason::ActingStopRequested
            } else {
                GenerateReason::PermissionAsking
            };
            return Ok(Step::End((last(batch.wait()), reason)));
        }
        match control.jump {
            Some(Jump { to: JumpTo::End, .. }) => {
                let msg = batch.refuse("the run was ended before this call was answered");
                Ok(Step::End((last(msg), GenerateReason::HookEnded)))
            }
            Some(Jump { messages, .. }) => self.ask_again(batch, &messages),
            None => {
                self.jumps = 0;
                batch.refuse("the call was not answered");
                Ok(Step::Reason)
            }
        }
    }

    /// Runs the tool calls in order, until a hook decides otherwise.
    async fn act_in_turn(&self, batch: &mut Batch<'_>) -> Result<Control, AgentError> {
        while let Some((number, call)) = batch.next() {
            self.cx.checkpoint().await;
            let acted = self.act_one(call).await?;
            let control = self.answer(batch, number, acted).await;
            if control != Control::default() {
                return Ok(control);
            }
        }
        Ok(Control::default())
    }

    /// Runs all tool calls concurrently. Memory gets the results in the order of the tool calls.
    async fn act_at_once(&self, batch: &mut Batch<'_>) -> Result<Control, AgentError> {
        let mut decided = Control::default();
        let mut running: FuturesUnordered<_> = batch
            .calls()
            .map(|(number, call)| async move { (number, self.act_one(call).await) })
            .collect();
        while let Some((number, ended)) = running.next().await {
            let control = self.answer(batch, number, ended?).await;
            decided.stop |= control.stop;
            decided.asks_permission |= control.asks_permission;
            decided.jump = control.jump.or(decided.jump);
        }
        Ok(decided)
    }

    async fn act_one(&self, call: ToolUse) -> Result<Acted, AgentError> {
        self.cx.emit(|| AgentEventKind::ToolStarted(call.clone())).await;
        let input = ActingInput { call, control: Control::default() };
        self.agent.acting(self.cx.clone(), input).await
    }

    /// Appends the result to memory, if there is one, and returns the decisions of hooks.
    async fn answer(&self, batch: &mut Batch<'_>, number: usize, acted: Acted) -> Control {
        let Acted { call, result, control } = acted;
        // A missing result is valid only if hooks decided so.
        let is_owed = result.is_none() && control == Control::default();
        let result = result.or_else(|| is_owed.then(|| ToolResult::error(&call, "no result")));
        if let Some(result) = result
            && let Some(result) = batch.answer(number, result, call)
        {
            self.cx.emit(|| AgentEventKind::ToolFinished(result)).await;
        }
        control
    }

    fn jumped(&mut self) -> Result<(), AgentError> {
        self.jumps += 1;
        let limit = self.agent.core.max_jumps;
        if self.jumps > limit { Err(AgentError::TooManyJumps { limit }) } else { Ok(()) }
    }

    /// Returns the messages in memory, compressed if necessary.
    pub(super) async fn conversation(&self) -> Result<Messages, AgentError> {
        let (messages, config) = (self.memory.messages(), self.agent.core.context);
        if !config.is_due(&messages) {
            return Ok(messages);
        }
        let before = messages.len();
        let compress = self.agent.compress_context(self.cx.clone(), messages, config, None);
        let compressed = Box::pin(compress).await?;
        if let [call, ..] = &*unanswered_tool_uses(&compressed) {
            let reason = format!("the tool call `{}` was parted from its result", call.id);
            return Err(AgentError::Compression(reason.into()));
        }
        if compressed.len() != before {
            self.memory.replace(compressed.clone());
        }
        Ok(compressed)
    }

    /// Returns the system message of a round.
    pub(super) async fn system(&self) -> Result<Option<Arc<Msg>>, AgentError> {
        let system = self.cx.system();
        let before = system.as_ref().map(|msg| msg.text()).unwrap_or_default();
        let length = before.len();
        let after = self.agent.system_prompt(self.cx.clone(), before).await?;
        let is_same = |msg: &Arc<Msg>| after.len() == length && msg.text() == after;
        match system {
            Some(msg) if is_same(&msg) => Ok(Some(msg)),
            _ if after.is_empty() => Ok(None),
            _ => Ok(Some(Arc::new(Msg::system(after)))),
        }
    }

    /// Returns the model's last message, or an empty message if there is none.
    pub(super) fn last_answer(&self) -> Arc<Msg> {
        let messages = self.memory.messages();
        let last = messages.iter().rev().find(|msg| msg.role == Role::Assistant).cloned();
        last.unwrap_or_else(|| {
            Arc::new(Msg::from_blocks(Role::Assistant, self.agent.name(), Vec::new()))
        })
    }
}

/// Appends the partial message to memory when the call is dropped or interrupted.
struct KeepDraft<'a> {
    cx: &'a CallContext,
    memory: &'a Memory,
}

impl Drop for KeepDraft<'_> {
    fn drop(&mut self) {
        let Some(mut draft) = self.cx.take_draft() else { return };
        // Tool calls are removed: they get no result.
        let is_kept = |block: &ContentBlock| !matches!(block, ContentBlock::ToolUse(_));
        if !draft.content.iter().all(is_kept) {
            Arc::make_mut(&mut draft).content.retain(is_kept);
        }
        if draft.content.is_empty() {
            return;
        }
        self.memory.add(draft.clone());
        self.cx.set_partial(draft);
    }
}
