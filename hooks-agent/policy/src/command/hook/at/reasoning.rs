//! Rounds of reasoning.

use hooks_agent_core::event::{EventKind, Flow, PostReasoning, PreReasoning};
use hooks_agent_core::message::{Msg, ToolResult};
use hooks_core::HookResult;

use crate::command::contract::{CommandEvent, Input};
use crate::command::decide::{Combined, Verdict};
use crate::command::hook::command_hooks::CommandHooks;
use crate::command::hook::commands::Occasion;
use crate::command::hook::input;

impl CommandHooks {
    pub(crate) async fn pre_reasoning(&self, event: &mut PreReasoning<'_>) -> Flow {
        let (cx, own) = (event.context(), CommandEvent::Own(EventKind::PreReasoning));
        // A command ended the call while its conversation was compressed.
        if self.state(cx).lock().stop.is_some() {
            return event.jump_to_end();
        }
        if !self.listens(own) {
            return Flow::Continue;
        }
        let mut input = input::of_call(own, Some(EventKind::PreReasoning), cx);
        input.model = Some(event.model_name().to_owned());
        if let Some(hooks) = &mut input.hooks {
            hooks.messages = serde_json::to_value(event.messages()).ok();
        }
        let occasion = Occasion { event: own, subject: Some(event.model_name()), tool: None };
        let combined = self.run(cx, occasion, input).await;
        if let Some(stop) = combined.stop {
            self.note_stop(cx, stop);
            return event.jump_to_end();
        }
        match combined.verdict {
            Verdict::Block => event.answer(Msg::assistant(cx.agent_name(), combined.reason)),
            _ => Flow::Continue,
        }
    }

    pub(crate) async fn post_reasoning(&self, event: &mut PostReasoning<'_>) -> HookResult<Flow> {
        let (cx, own) = (event.context(), CommandEvent::Own(EventKind::PostReasoning));
        if self.listens(own) {
            let model = event.model_name().to_owned();
            let mut input = self.input_of_answer(own, event);
            input.model = Some(model.clone());
            let occasion = Occasion { event: own, subject: Some(&model), tool: None };
            let combined = self.run(cx, occasion, input).await;
            if let Some(flow) = self.direct_answer(event, combined)? {
                return Ok(flow);
            }
        }
        if event.message().tool_uses().next().is_some() {
            self.state(cx).lock().stop_blocks = 0;
            return Ok(Flow::Continue);
        }
        let (occurring, subject) = match cx.parent() {
            None => (CommandEvent::Stop, None),
            Some(_) => (CommandEvent::SubagentStop, Some(cx.agent_name())),
        };
        let is_directed = event.control().is_stopped() || event.control().jumps_to().is_some();
        if is_directed || !self.listens(occurring) {
            return Ok(Flow::Continue);
        }
        let mut input = self.input_of_answer(occurring, event);
        input.stop_hook_active = Some(self.state(cx).lock().is_stop_active);
        let occasion = Occasion { event: occurring, subject, tool: None };
        let combined = self.run(cx, occasion, input).await;
        self.direct_stop(event, combined)
    }

    fn input_of_answer(&self, occurring: CommandEvent, event: &PostReasoning<'_>) -> Input {
        let kind = Some(EventKind::PostReasoning);
        let mut input = input::of_call(occurring, kind, event.context());
        input.last_assistant_message = Some(event.message().text());
        input
    }

    /// Makes the model answer again, at most twice in a row.
    fn direct_stop(&self, event: &PostReasoning<'_>, combined: Combined) -> HookResult<Flow> {
        let cx = event.context();
        if let Some(stop) = combined.stop {
            self.note_stop(cx, stop);
            return Ok(event.jump_to_end());
        }
        let block = (combined.verdict == Verdict::Block).then_some(combined.reason);
        let texts: Vec<_> = block.into_iter().chain(combined.context).collect();
        if texts.is_empty() {
            return Ok(Flow::Continue);
        }
        if !self.state(cx).lock().may_go_on() {
            tracing::warn!(
                target: "hooks_agent::command",
                agent = cx.agent_name(),
                "the call ends although a command blocks, as commands did twice in a row"
            );
            return Ok(Flow::Continue);
        }
        Ok(event.jump_to_model(Msg::user(texts.join("\n\n")))?)
    }

    /// Makes the model answer again. Its tool calls get the reason as their result.
    fn direct_answer(
        &self,
        event: &PostReasoning<'_>,
        combined: Combined,
    ) -> HookResult<Option<Flow>> {
        if let Some(stop) = combined.stop {
            self.note_stop(event.context(), stop);
            return Ok(Some(event.jump_to_end()));
        }
        if combined.verdict != Verdict::Block {
            return Ok(None);
        }
        let calls = event.message().tool_uses();
        let refused = calls.map(|call| ToolResult::error(call, combined.reason.clone()));
        let mut messages: Vec<_> = refused.map(Msg::tool_result).collect();
        if messages.is_empty() {
            messages.push(Msg::user(combined.reason));
        }
        Ok(Some(event.jump_to_model(messages)?))
    }
}
