//! Messages: what the caller brings, and what the model gets.

use std::sync::Arc;

use hooks_agent_core::message::{ContentBlock, Messages, Msg, Role};
use serde_json::{Map, Value, json};

use crate::context::Path;
use crate::context::output::{content_of, set_content};
use crate::context::tool::{output_back, value_of};

/// Returns the `input` of the messages of a caller: the text if it is one text, else all messages.
pub(crate) fn input_of(messages: &Messages) -> Value {
    let is_result = |msg: &Msg| msg.role == Role::Tool;
    let role = if messages.iter().all(is_result) { "external" } else { "user" };
    json!({ "content": input_content(messages), "role": role })
}

fn input_content(messages: &Messages) -> Value {
    match messages.first() {
        Some(only) if messages.len() == 1 && is_text(only) => json!(only.text()),
        _ => json!({ "messages": all_of(messages) }),
    }
}

/// Reads the messages of a caller back.
pub(crate) fn input_back(input: &Value, mut messages: Messages) -> Result<Messages, Path> {
    let content = &input["content"];
    if input["role"] != input_of(&messages)["role"] {
        return Err("input.role");
    }
    if *content == input_content(&messages) {
        return Ok(messages);
    }
    match content {
        Value::String(text) => match messages.last_mut() {
            Some(only) if is_text(only) => {
                only.content = vec![ContentBlock::text(text)];
                // The others were not in the context: there are none.
                if messages.len() == 1 { Ok(messages) } else { Err("input.content") }
            }
            _ => Err("input.content"),
        },
        Value::Object(fields) => match (fields.get("messages"), fields.len()) {
            (Some(changed), 1) => {
                all_back(changed, &messages).map_err(|_| "input.content.messages")
            }
            _ => Err("input.content"),
        },
        _ => Err("input.content"),
    }
}

/// Returns messages as the specification has them.
pub(crate) fn all_of(messages: &Messages) -> Value {
    messages.iter().map(one_of).collect()
}

/// Reads messages back. A message that is one of those before, in their order, is that one; the others are changed,
/// where there are as many as before, or new.
pub(crate) fn all_back(changed: &Value, before: &Messages) -> Result<Messages, Path> {
    let changed = changed.as_array().ok_or("messages")?;
    let known: Vec<_> = before.shared().map(|msg| (one_of(msg), msg)).collect();
    let is_aligned = known.len() == changed.len();
    let mut next = 0;
    let mut messages = Messages::new();
    for (number, one) in changed.iter().enumerate() {
        let aligned = known.get(number).filter(|_| is_aligned && number >= next);
        if let Some(Ok(changed)) = aligned.map(|known| changed_back(one, known)) {
            messages.push(changed);
            next = number + 1;
        } else if let Some(found) = known[next..].iter().position(|(json, _)| json == one) {
            messages.push(known[next + found].1.clone());
            next += found + 1;
        } else {
            messages.push(new_back(one)?);
        }
    }
    Ok(messages)
}

fn one_of(msg: &Msg) -> Value {
    let mut one = Map::new();
    one.insert("role".to_owned(), json!(role_of(msg.role)));
    if let [ContentBlock::ToolResult(result)] = &*msg.content {
        one.insert("content".to_owned(), value_of(&result.output));
        one.insert("tool_call_id".to_owned(), json!(result.id));
        one.insert("name".to_owned(), json!(result.name));
        one.insert("is_error".to_owned(), json!(result.is_error));
        return Value::Object(one);
    }
    one.insert("content".to_owned(), content_of(&msg.content));
    let calls: Vec<_> = msg
        .tool_uses()
        .map(|call| json!({ "id": call.id, "name": call.name, "args": call.input }))
        .collect();
    if !calls.is_empty() {
        one.insert("tool_calls".to_owned(), json!(calls));
    }
    let thinking = thinking_of(&msg.content);
    if !thinking.is_empty() {
        one.insert("thinking".to_owned(), json!(thinking));
    }
    Value::Object(one)
}

/// Reads a message back that is in the place of another one.
fn changed_back(one: &Value, (json, before): &(Value, &Arc<Msg>)) -> Result<Arc<Msg>, Path> {
    if one == json {
        return Ok(Arc::clone(before));
    }
    let same = |field: &str| one.get(field) == json.get(field);
    if !["role", "tool_calls", "tool_call_id", "name", "is_error"].into_iter().all(same) {
        return Err("messages[..]: only content and thinking may change");
    }
    let mut msg = Msg::clone(before);
    if let [ContentBlock::ToolResult(result)] = &mut *msg.content {
        result.output = output_back(&one["content"], &result.output);
        return Ok(msg.into());
    }
    if !same("thinking") {
        if one.get("thinking").is_some() {
            return Err("messages[..].thinking: it may be removed alone");
        }
        remove_thinking(&mut msg.content);
    }
    if !same("content") {
        set_content(&one["content"], &mut msg.content).map_err(|_| "messages[..].content")?;
    }
    Ok(msg.into())
}

/// Reads a message back that was not there before: with a text.
fn new_back(one: &Value) -> Result<Msg, Path> {
    let Some(text) = one["content"].as_str() else { return Err("messages[..].content") };
    let is_plain = one.as_object().is_some_and(|fields| fields.len() == 2);
    match (one["role"].as_str(), is_plain) {
        (Some("user"), true) => Ok(Msg::user(text)),
        (Some("system"), true) => Ok(Msg::system(text)),
        (Some("assistant"), true) => Ok(Msg::assistant("assistant", text)),
        _ => Err("messages[..].role"),
    }
}

fn role_of(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

fn is_text(msg: &Msg) -> bool {
    matches!(&*msg.content, [ContentBlock::Text { .. }]) && msg.role == Role::User
}

/// Returns the thoughts of a message that can be read.
pub(crate) fn thinking_of(content: &[ContentBlock]) -> String {
    let thoughts = content.iter().filter_map(|block| match block {
        ContentBlock::Thinking { thinking, .. } => Some(&**thinking),
        _ => None,
    });
    thoughts.collect()
}

/// Removes the thoughts of a message, also those that only the provider can read.
pub(crate) fn remove_thinking(content: &mut Vec<ContentBlock>) {
    content.retain(|block| {
        !matches!(block, ContentBlock::Thinking { .. } | ContentBlock::RedactedThinking { .. })
    });
}
