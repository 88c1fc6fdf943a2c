//! Writes the input of commands from an event.

use std::iter;

use hooks_agent_core::call::{CallContext, RunMode};
use hooks_agent_core::event::EventKind;
use hooks_agent_core::message::{ContentBlock, Messages, Msg, ToolResult, ToolUse};
use serde_json::{Value, json};

use crate::command::contract::{CommandEvent, HostFields, Input};

/// Returns the fields that every event of a call has.
pub(super) fn of_call(event: CommandEvent, kind: Option<EventKind>, cx: &CallContext) -> Input {
    let run = cx.run_id().to_string();
    let parent = cx.parent().map(|parent| parent.run_id().to_string());
    let mut input = Input::new(event);
    cx.thread_id().clone_into(&mut input.session_id);
    let mode = if *cx.mode() == RunMode::Plan { "plan" } else { "default" };
    input.permission_mode = Some(mode.to_owned());
    if parent.is_some() {
        input.agent_id = Some(run.clone());
        input.agent_type = Some(cx.agent_name().to_owned());
    }
    input.prompt_id = Some(run.clone());
    input.hooks = Some(HostFields {
        run_id: run,
        parent_run_id: parent,
        agent_name: cx.agent_name().to_owned(),
        user: cx.identity().and_then(|user| serde_json::to_value(user).ok()),
        event: kind.map_or(event.name(), EventKind::name).to_owned(),
        ..HostFields::default()
    });
    input
}

/// Returns the fields of an event of a tool call.
pub(super) fn of_tool(
    event: CommandEvent,
    kind: Option<EventKind>,
    cx: &CallContext,
    call: &ToolUse,
) -> Input {
    let mut input = of_call(event, kind, cx);
    input.tool_name = Some(call.name.clone());
    input.tool_input = Some(call.input.clone());
    input.tool_use_id = Some(call.id.clone());
    input
}

/// Returns the result of a tool call, as commands read it.
pub(super) fn response(result: &ToolResult) -> Value {
    json!({ "content": content_of(result), "is_error": result.is_error })
}

/// Returns all texts of a result that the model reads.
pub(super) fn content_of(result: &ToolResult) -> String {
    let blocks = result.output.blocks().iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(text.as_str()),
        _ => None,
    });
    let texts = iter::once(result.output.as_str()).chain(blocks);
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Returns the text of the messages that are more than results of tool calls, if there are any.
pub(super) fn prompt(messages: &Messages) -> Option<String> {
    let is_result = |block: &ContentBlock| matches!(block, ContentBlock::ToolResult(_));
    let is_prompt = |msg: &&Msg| !msg.content.iter().all(is_result);
    let mut texts = messages.iter().filter(is_prompt).map(Msg::text).peekable();
    texts.peek()?;
    Some(texts.collect::<Vec<_>>().join("\n"))
}

/// Returns a text as it is, and other values as JSON.
pub(super) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
