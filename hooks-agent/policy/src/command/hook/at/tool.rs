//! Tool calls: before, around and after.

use std::time::Instant;

use hooks_agent_core::event::{EventKind, Flow, PostActing, PreActing};
use hooks_agent_core::hook::{NextTool, ToolCall};
use hooks_agent_core::message::{ToolOutput, ToolResult};
use hooks_agent_core::tool::ToolError;
use hooks_core::HookResult;
use serde_json::Value;

use crate::command::contract::{CommandEvent, Input};
use crate::command::decide::{Combined, Verdict};
use crate::command::hook::command_hooks::CommandHooks;
use crate::command::hook::commands::Occasion;
use crate::command::hook::input;

impl CommandHooks {
    pub(crate) async fn pre_acting(&self, event: &mut PreActing<'_>) -> Flow {
        let cx = event.context();
        self.state(cx).lock().begin_tool(&event.tool_use().id);
        for occurring in [CommandEvent::PreToolUse, CommandEvent::Own(EventKind::PreActing)] {
            if !self.listens(occurring) {
                continue;
            }
            let call = event.tool_use().clone();
            let input = input::of_tool(occurring, Some(EventKind::PreActing), cx, &call);
            let occasion =
                Occasion { event: occurring, subject: Some(&call.name), tool: Some(&call) };
            let combined = self.run(cx, occasion, input).await;
            if let Some(flow) = self.direct_tool(event, combined) {
                return flow;
            }
        }
        Flow::Continue
    }

    fn direct_tool(&self, event: &mut PreActing<'_>, combined: Combined) -> Option<Flow> {
        let (cx, id) = (event.context(), event.tool_use().id.clone());
        let state = self.state(cx);
        if let Some(stop) = combined.stop {
            self.note_stop(cx, stop);
            return Some(event.jump_to_end());
        }
        if let Some(context) = combined.context {
            add(&mut state.lock().tool(&id).context, context);
        }
        if let Some(rewrite) = combined.rewrite {
            let call = event.tool_use_mut();
            call.input = Value::Object(rewrite);
            call.invalid_input = None;
        }
        match combined.verdict {
            Verdict::None => None,
            Verdict::Allow => {
                let call = event.tool_use();
                state.lock().tool(&id).allowed = Some((call.name.clone(), call.input.clone()));
                None
            }
            Verdict::Ask if event.is_answered(&combined.reason) => None,
            Verdict::Ask => Some(event.ask(combined.reason)),
            Verdict::Defer => Some(event.stop()),
            Verdict::Block => Some(event.refuse(combined.reason)),
        }
    }

    /// Passes on the arguments that a request for permission was allowed with, and measures.
    pub(crate) async fn around_tool(
        &self,
        mut call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let (state, id) = (self.state(call.context()), call.tool_use().id.clone());
        let rewrite = state.lock().tool(&id).rewrite.clone();
        if let Some((asked, rewritten)) = rewrite
            && call.tool_use().input == asked
        {
            call.tool_use_mut().input = rewritten;
        }
        let start = Instant::now();
        let ended = next.run(call.into_tool_use()).await;
        state.lock().tool(&id).took = Some(start.elapsed());
        ended
    }

    pub(crate) async fn post_acting(&self, event: &mut PostActing<'_>) -> HookResult<Flow> {
        let theirs = if event.tool_result().is_error {
            CommandEvent::PostToolUseFailure
        } else {
            CommandEvent::PostToolUse
        };
        let (cx, state) = (event.context(), self.state(event.context()));
        let mut texts = state.lock().tool(&event.tool_use().id).context.take();
        for occurring in [theirs, CommandEvent::Own(EventKind::PostActing)] {
            if !self.listens(occurring) {
                continue;
            }
            let call = event.tool_use().clone();
            let input = self.input_of_result(occurring, event);
            let occasion =
                Occasion { event: occurring, subject: Some(&call.name), tool: Some(&call) };
            let combined = self.run(cx, occasion, input).await;
            if combined.verdict == Verdict::Block && occurring != theirs {
                return Err(combined.reason.into());
            }
            if let Some(text) = apply(event, &combined) {
                add(&mut texts, text);
            }
            if let Some(stop) = combined.stop {
                self.note_stop(cx, stop);
            }
        }
        if let Some(texts) = texts {
            let output = event.tool_result_mut().output.text_mut();
            if !output.is_empty() {
                output.push_str("\n\n");
            }
            output.push_str(&texts);
        }
        let is_ending = state.lock().stop.is_some();
        Ok(if is_ending { event.jump_to_end() } else { Flow::Continue })
    }

    fn input_of_result(&self, occurring: CommandEvent, event: &PostActing<'_>) -> Input {
        let (cx, call, result) = (event.context(), event.tool_use(), event.tool_result());
        let mut input = input::of_tool(occurring, Some(EventKind::PostActing), cx, call);
        let took = self.state(cx).lock().tool(&call.id).took;
        input.duration_ms = took.map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        if occurring == CommandEvent::PostToolUseFailure {
            input.error = Some(input::content_of(result));
            input.is_interrupt = Some(cx.is_interrupted());
        } else {
            input.tool_response = Some(input::response(result));
        }
        input
    }
}

/// Changes the result, and returns the text to add to it. A result that a failed command should
/// have checked is replaced: it may hold what the command would have removed.
fn apply(event: &mut PostActing<'_>, combined: &Combined) -> Option<String> {
    if combined.has_failed {
        let mut error = ToolResult::error(event.tool_use(), combined.reason.clone());
        error.ran = event.tool_result_mut().ran.take();
        event.set_tool_result(error);
        return None;
    }
    if let Some(result) = &combined.result {
        event.tool_result_mut().output = match result.as_str() {
            Some(text) => ToolOutput::text(text),
            None => ToolOutput::json(result.clone()),
        };
    }
    let mut text = (combined.verdict == Verdict::Block).then(|| combined.reason.clone());
    if let Some(context) = combined.context.clone() {
        add(&mut text, context);
    }
    text
}

/// Appends a text, after a blank line.
fn add(texts: &mut Option<String>, text: String) {
    *texts = Some(match texts.take() {
        Some(before) => format!("{before}\n\n{text}"),
        None => text,
    });
}
