//! The events of a probe, each with the least input.

use std::sync::Arc;

use hooks_core::Hookable;

use crate::agent::{Agent, CallOutcome};
use crate::event::{EventKind, HookEvent};
use crate::hook::AgentHook;
use crate::message::{ContentBlock, Messages, Msg, Role, ToolResult, ToolUse};
use crate::round::{Acted, ActingInput, Reasoned, ReasoningInput, SummaryInput};
use crate::testing::probe::MODEL;
use crate::testing::probe::call::{NotInterested, Probe};
use crate::testing::probe::watch::replace_body;
use crate::testing::seen::Seen;

/// The data of [`PreCall`](crate::event::PreCall).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CallInput {
    /// The messages of the caller.
    pub messages: Messages,
    /// The system message of the call.
    pub system: Option<Arc<Msg>>,
}

impl<H: AgentHook> Probe<H> {
    /// Runs the hook before a call with these messages.
    ///
    /// # Errors
    /// [`NotInterested`] if the hook does not receive the event.
    pub async fn pre_call(
        &self,
        messages: impl Into<Messages>,
    ) -> Result<Seen<CallInput>, NotInterested> {
        let messages = messages.into();
        let watch = self.watch(EventKind::PreCall, |event| match event {
            HookEvent::PreCall(event) => {
                let (messages, system) = (event.messages().clone(), event.system_message());
                Some(CallInput { messages, system })
            }
            _ => None,
        })?;
        replace_body!(watch.agent, AROUND_REPLY, Ok(self.answer(Vec::new())));
        let applied = watch.agent.reply(watch.cx.clone(), messages).await;
        Ok(watch.seen(applied))
    }

    /// Runs the hook after a call with this reply.
    ///
    /// # Errors
    /// [`NotInterested`] if the hook does not receive the event.
    pub async fn post_call(&self, reply: Msg) -> Result<Seen<Msg>, NotInterested> {
        let watch = self.watch(EventKind::PostCall, |event| match event {
            HookEvent::PostCall(event) => Some(event.final_message().clone()),
            _ => None,
        })?;
        replace_body!(watch.agent, AROUND_REPLY, Ok(reply));
        let applied = watch.agent.reply(watch.cx.clone(), Messages::new()).await;
        Ok(watch.seen(applied))
    }

    /// Runs the hook before a round of reasoning on the history and these messages, with the system
    /// message of the call.
    ///
    /// # Errors
    /// [`NotInterested`] if the hook does not receive the event.
    pub async fn pre_reasoning(
        &self,
        messages: impl Into<Messages>,
    ) -> Result<Seen<ReasoningInput>, NotInterested> {
        let messages = self.after_history(messages.into());
        let watch = self.watch(EventKind::PreReasoning, |event| match event {
            HookEvent::PreReasoning(event) => {
                let mut input = ReasoningInput::new(event.model_name(), event.messages().clone());
                input.system = event.system_message().cloned().map(Arc::new);
                input.tools = event.tools().into();
                input.options = Arc::new(event.options().clone());
                input.control = event.control().clone();
                Some(input)
            }
            _ => None,
        })?;
        let mut input = ReasoningInput::new(MODEL, messages);
        input.system = watch.cx.system();
        let answer = Reasoned::new(MODEL, self.answer(Vec::new()));
        replace_body!(watch.agent, AROUND_REASONING, Ok(answer));
        let applied = watch.agent.reasoning(watch.cx.clone(), input).await;
        Ok(watch.seen(applied))
    }

    /// Runs the hook for a chunk of an answer that begins with it.
    ///
    /// # Errors
    /// [`NotInterested`] if the hook does not receive the event.
    pub async fn reasoning_chunk(
        &self,
        chunk: ContentBlock,
    ) -> Result<Seen<ContentBlock>, NotInterested> {
        let watch = self.watch(EventKind::ReasoningChunk, |event| match event {
            HookEvent::ReasoningChunk(event) => Some(event.incremental().clone()),
            _ => None,
        })?;
        let until_now = Arc::new(self.answer(vec![chunk.clone()]));
        watch.agent.reasoning_chunk(&watch.cx, &chunk, &until_now).await;
        Ok(watch.seen(Ok(())))
    }

    /// Runs the hook after a round of reasoning with this answer of the model.
    ///
    /// # Errors
    /// [`NotInterested`] if the hook does not receive the event.
    pub async fn post_reasoning(&self, answer: Msg) -> Result<Seen<Msg>, NotInterested> {
        let watch = self.watch(EventKind::PostReasoning, |event| match event {
            HookEvent::PostReasoning(event) => Some(event.message().clone()),
            _ => None,
        })?;
        replace_body!(watch.agent, AROUND_REASONING, Ok(Reasoned::new(MODEL, answer)));
        let input = ReasoningInput::new(MODEL, self.after_history(Messages::new()));
        let applied = watch.agent.reasoning(watch.cx.clone(), input).await;
        Ok(watch.seen(applied))
    }

    /// Runs the hook before a tool call.
    ///
    /// # Errors
    /// [`NotInterested`] if the hook does not receive the event.
    pub async fn pre_acting(&self, call: ToolUse) -> Result<Seen<ToolUse>, NotInterested> {
        let watch = self.watch(EventKind::PreActing, |event| match event {
            HookEvent::PreActing(event) => Some(event.tool_use().clone()),
            _ => None,
        })?;
        let acted = Acted::new(call.clone(), ToolResult::success(&call, ""));
        replace_body!(watch.agent, AROUND_ACTING, Ok(acted));
        let applied = watch.agent.acting(watch.cx.clone(), ActingInput::new(call)).await;
        Ok(watch.seen(applied))
    }

    /// Runs the hook for a progress report of a running tool.
    ///
    /// # Errors
    /// [`NotInterested`] if the hook does not receive the event.
    pub async fn acting_chunk(
        &self,
        call: &ToolUse,
        chunk: &str,
    ) -> Result<Seen<String>, NotInterested> {
        let watch = self.watch(EventKind::ActingChunk, |event| match event {
            HookEvent::ActingChunk(event) => Some(event.chunk().to_owned()),
            _ => None,
        })?;
        watch.agent.acting_chunk(&watch.cx, &Arc::new(call.clone()), chunk).await;
        Ok(watch.seen(Ok(())))
    }

    /// Runs the hook after a tool call with this result.
    ///
    /// # Errors
    /// [`NotInterested`] if the hook does not receive the event.
    pub async fn post_acting(
        &self,
        call: &ToolUse,
        result: ToolResult,
    ) -> Result<Seen<ToolResult>, NotInterested> {
        let watch = self.watch(EventKind::PostActing, |event| match event {
            HookEvent::PostActing(event) => Some(event.tool_result().clone()),
            _ => None,
        })?;
        replace_body!(watch.agent, AROUND_ACTING, Ok(Acted::new(call.clone(), result)));
        let applied = watch.agent.acting(watch.cx.clone(), ActingInput::new(call.clone())).await;
        Ok(watch.seen(applied))
    }

    /// Runs the hook before the summary of the history and these messages, of which the last one is
    /// the request for the summary.
    ///
    /// # Errors
    /// [`NotInterested`] if the hook does not receive the event.
    pub async fn pre_summary(
        &self,
        messages: impl Into<Messages>,
    ) -> Result<Seen<SummaryInput>, NotInterested> {
        let messages = self.after_history(messages.into());
        let watch = self.watch(EventKind::PreSummary, |event| match event {
            HookEvent::PreSummary(event) => {
                let mut input = SummaryInput::new(event.model_name(), event.messages().clone());
                input.system = event.system_message().cloned().map(Arc::new);
                input.options = Arc::new(event.options().clone());
                input.max_iterations = event.max_iterations();
                input.current_iteration = event.current_iteration();
                Some(input)
            }
            _ => None,
        })?;
        let mut input = SummaryInput::new(MODEL, messages);
        input.system = watch.cx.system();
        let answer = Reasoned::new(MODEL, self.answer(Vec::new()));
        replace_body!(watch.agent, AROUND_SUMMARIZING, Ok(answer));
        let applied = watch.agent.summarizing(watch.cx.clone(), input).await;
        Ok(watch.seen(applied))
    }

    /// Runs the hook for a chunk of a summary that begins with it.
    ///
    /// # Errors
    /// [`NotInterested`] if the hook does not receive the event.
    pub async fn summary_chunk(
        &self,
        chunk: ContentBlock,
    ) -> Result<Seen<ContentBlock>, NotInterested> {
        let watch = self.watch(EventKind::SummaryChunk, |event| match event {
            HookEvent::SummaryChunk(event) => Some(event.incremental().clone()),
            _ => None,
        })?;
        let until_now = Arc::new(self.answer(vec![chunk.clone()]));
        watch.agent.summary_chunk(&watch.cx, &chunk, &until_now).await;
        Ok(watch.seen(Ok(())))
    }

    /// Runs the hook after a summary.
    ///
    /// # Errors
    /// [`NotInterested`] if the hook does not receive the event.
    pub async fn post_summary(&self, summary: Msg) -> Result<Seen<Msg>, NotInterested> {
        let watch = self.watch(EventKind::PostSummary, |event| match event {
            HookEvent::PostSummary(event) => Some(event.message().clone()),
            _ => None,
        })?;
        replace_body!(watch.agent, AROUND_SUMMARIZING, Ok(Reasoned::new(MODEL, summary)));
        let input = SummaryInput::new(MODEL, self.after_history(Messages::new()));
        let applied = watch.agent.summarizing(watch.cx.clone(), input).await;
        Ok(watch.seen(applied))
    }

    /// Runs the hook at the end of a call.
    ///
    /// # Errors
    /// [`NotInterested`] if the hook does not receive the event.
    pub async fn settled(&self, outcome: CallOutcome) -> Result<Seen<CallOutcome>, NotInterested> {
        let watch = self.watch(EventKind::Settled, |event| match event {
            HookEvent::Settled(event) => Some(event.outcome().clone()),
            _ => None,
        })?;
        watch.agent.settled(watch.cx.clone(), outcome);
        Ok(watch.seen(Ok(())))
    }

    fn answer(&self, content: Vec<ContentBlock>) -> Msg {
        Msg::from_blocks(Role::Assistant, self.context().agent_name(), content)
    }
}
