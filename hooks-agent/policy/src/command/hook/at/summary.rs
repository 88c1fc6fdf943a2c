//! Summaries, chunks and failures.

use hooks_agent_core::call::CallContext;
use hooks_agent_core::event::{ErrorEvent, EventKind, Flow, PostSummary, PreSummary};
use hooks_agent_core::message::{ContentBlock, Msg, ToolUse};
use hooks_core::HookResult;

use crate::command::contract::CommandEvent;
use crate::command::decide::Verdict;
use crate::command::hook::command_hooks::CommandHooks;
use crate::command::hook::commands::Occasion;
use crate::command::hook::input;

impl CommandHooks {
    pub(crate) async fn pre_summary(&self, event: &mut PreSummary<'_>) -> Flow {
        let (cx, own) = (event.context(), CommandEvent::Own(EventKind::PreSummary));
        let mut input = input::of_call(own, Some(EventKind::PreSummary), cx);
        input.model = Some(event.model_name().to_owned());
        if let Some(hooks) = &mut input.hooks {
            hooks.messages = serde_json::to_value(event.messages()).ok();
        }
        let occasion = Occasion { event: own, subject: Some(event.model_name()), tool: None };
        let combined = self.run(cx, occasion, input).await;
        if let Some(stop) = combined.stop {
            self.note_stop(cx, stop);
            return event.stop();
        }
        match combined.verdict {
            Verdict::Block => event.answer(Msg::assistant(cx.agent_name(), combined.reason)),
            _ => Flow::Continue,
        }
    }

    pub(crate) async fn post_summary(&self, event: &mut PostSummary<'_>) -> HookResult<Flow> {
        let (cx, own) = (event.context(), CommandEvent::Own(EventKind::PostSummary));
        let mut input = input::of_call(own, Some(EventKind::PostSummary), cx);
        input.last_assistant_message = Some(event.message().text());
        let occasion = Occasion { event: own, subject: Some(event.model_name()), tool: None };
        let combined = self.run(cx, occasion, input).await;
        if combined.verdict == Verdict::Block {
            return Err(combined.reason.into());
        }
        if let Some(stop) = combined.stop {
            self.note_stop(cx, stop);
        }
        Ok(Flow::Continue)
    }

    /// Runs the commands of a chunk of an answer, which cannot direct the call.
    pub(crate) async fn text_chunk(&self, kind: EventKind, cx: &CallContext, chunk: &ContentBlock) {
        let event = CommandEvent::Own(kind);
        let mut input = input::of_call(event, Some(kind), cx);
        if let (Some(hooks), ContentBlock::Text { text }) = (&mut input.hooks, chunk) {
            hooks.chunk = Some(text.clone());
        }
        self.run(cx, Occasion { event, subject: Some(cx.agent_name()), tool: None }, input).await;
    }

    /// Runs the commands of the progress of a tool, which cannot direct the call.
    pub(crate) async fn tool_chunk(&self, cx: &CallContext, call: &ToolUse, chunk: &str) {
        let event = CommandEvent::Own(EventKind::ActingChunk);
        let mut input = input::of_tool(event, Some(EventKind::ActingChunk), cx, call);
        if let Some(hooks) = &mut input.hooks {
            hooks.chunk = Some(chunk.to_owned());
        }
        let occasion = Occasion { event, subject: Some(&call.name), tool: Some(call) };
        self.run(cx, occasion, input).await;
    }

    /// Runs the commands of a failure, which cannot direct the call.
    pub(crate) async fn error(&self, event: &ErrorEvent<'_>) {
        let (cx, own) = (event.context(), CommandEvent::Own(EventKind::Error));
        let mut input = input::of_call(own, Some(EventKind::Error), cx);
        input.error = Some(event.error().to_string());
        let occasion = Occasion { event: own, subject: Some(cx.agent_name()), tool: None };
        self.run(cx, occasion, input).await;
    }
}
