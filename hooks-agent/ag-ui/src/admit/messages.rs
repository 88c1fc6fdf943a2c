//! The messages of an input as messages of the agent.

use std::collections::{HashMap, HashSet};

use hooks_agent_core::message::{ContentBlock, Msg, Role, ToolResult, ToolUse};
use serde_json::Value;

use crate::protocol::InputMessage;
use crate::request::ids::ID;
use crate::transcript::{blocks_of, text_of};

/// Returns those of the user, of the messages after the last known one.
pub(super) fn new_messages(new: &[InputMessage]) -> Vec<Msg> {
    let (users, others): (Vec<_>, Vec<_>) =
        new.iter().filter(|message| is_of_thread(message)).partition(|it| it.role() == "user");
    let is_strange = |message: &&&InputMessage| message.role() == "assistant";
    if others.iter().any(|message| is_strange(&message)) {
        tracing::debug!(
            target: "hooks_agent::ag_ui",
            "answers that the thread does not have are ignored"
        );
    }
    users.into_iter().filter_map(user).collect()
}

/// Returns the whole conversation, for a thread without memory. Tool calls without a result are left out.
pub(super) fn conversation(messages: &[InputMessage], agent: &str) -> Vec<Msg> {
    let results: HashMap<_, _> = messages
        .iter()
        .filter(|message| message.role() == "tool" && is_of_thread(message))
        .map(|message| (message.text("toolCallId"), message))
        .collect();
    let mut all = Vec::new();
    let mut seen = HashSet::new();
    for message in messages.iter().filter(|message| is_of_thread(message)) {
        match message.role() {
            "user" => all.extend(user(message)),
            "assistant" => {
                let mut answer = assistant(message, agent);
                answer.content.retain(|block| match block {
                    ContentBlock::ToolUse(call) => {
                        results.contains_key(call.id.as_str()) && seen.insert(call.id.clone())
                    }
                    _ => true,
                });
                let calls: Vec<_> = answer.tool_uses().cloned().collect();
                if !answer.content.is_empty() {
                    all.push(answer);
                }
                all.extend(calls.iter().map(|call| result(call, results[call.id.as_str()])));
            }
            _ => {}
        }
    }
    all
}

/// Returns the texts of system and developer messages.
pub(super) fn system_texts(messages: &[InputMessage]) -> Vec<String> {
    let is_system = |message: &&InputMessage| matches!(message.role(), "system" | "developer");
    let texts = messages.iter().filter(is_system).map(|message| text_of(&message.value["content"]));
    texts.filter(|text| !text.is_empty()).collect()
}

/// Returns the messages that only the client has, each behind the message of this id: those of sub-agents of
/// earlier runs, and those of the user that a hook answered.
pub(super) fn of_client(
    messages: &[InputMessage],
    known: &HashSet<&str>,
    is_answered: impl Fn(&str) -> bool,
) -> Vec<(Option<String>, Value)> {
    let mut anchor = None;
    let mut kept = Vec::new();
    for message in messages {
        let is_shown = matches!(message.role(), "assistant" | "tool" | "reasoning");
        if known.contains(message.id()) {
            anchor = Some(message.id().to_owned());
        } else if is_shown && !is_of_thread(message) || is_answered(message.id()) {
            kept.push((anchor.clone(), message.value.clone()));
        }
    }
    kept
}

/// Returns the ids of the tool calls that the client knows.
pub(super) fn call_ids(messages: &[InputMessage]) -> HashSet<String> {
    let calls = messages.iter().filter_map(|message| message.value["toolCalls"].as_array());
    calls.flatten().filter_map(|call| call["id"].as_str().map(str::to_owned)).collect()
}

/// Returns the message with what the client returned for a call of one of its tools.
pub(super) fn result(call: &ToolUse, message: &InputMessage) -> Msg {
    let result = match message.value["error"].as_str() {
        Some(error) => ToolResult::error(call, error),
        None => ToolResult::success(call, text_of(&message.value["content"])),
    };
    Msg::tool_result(result).with_metadata(ID, message.id())
}

/// Returns whether a message is one of the agent that the client called.
fn is_of_thread(message: &InputMessage) -> bool {
    message.value["subagentRunId"].is_null()
}

fn user(message: &InputMessage) -> Option<Msg> {
    let blocks = blocks_of(&message.value["content"]);
    if blocks.is_empty() {
        tracing::warn!(
            target: "hooks_agent::ag_ui",
            "a message of the user without content that can be used is ignored"
        );
        return None;
    }
    Some(Msg::from_blocks(Role::User, "user", blocks).with_metadata(ID, message.id()))
}

fn assistant(message: &InputMessage, agent: &str) -> Msg {
    let mut blocks = Vec::new();
    let text = text_of(&message.value["content"]);
    if !text.is_empty() {
        blocks.push(ContentBlock::text(text));
    }
    let calls = message.value["toolCalls"].as_array().into_iter().flatten();
    blocks.extend(calls.filter_map(|call| {
        let (id, function) = (call["id"].as_str()?, &call["function"]);
        let (name, written) = (function["name"].as_str()?, function["arguments"].as_str()?);
        let input = serde_json::from_str::<Value>(written).ok().filter(Value::is_object);
        Some(ContentBlock::ToolUse(match input {
            Some(input) => ToolUse::new(id, name, input),
            None => ToolUse::invalid(id, name, written),
        }))
    }));
    Msg::from_blocks(Role::Assistant, agent, blocks).with_metadata(ID, message.id())
}
