//! The fields of events, read one by one: unknown ones pass, and needed ones are there and of their type.

use hooks_agent_policy::command::Input;
use serde_json::{Map, Value};

use crate::dialect::table::Event;

pub(super) type Fields = Map<String, Value>;

/// Creates the input of an event, for hooks.
pub(super) fn input(event: &Event, session: String) -> Input {
    let name = event.kind.event().map_or(event.name, |event| event.name());
    let mut input = Input::new(name);
    input.session_id = session;
    input
}

/// Returns a text that is needed.
pub(super) fn needed(fields: &Fields, name: &str) -> Result<String, String> {
    match fields.get(name) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text.clone()),
        Some(Value::String(_)) => Err(format!("`{name}` of the event is empty")),
        Some(_) => Err(format!("`{name}` of the event is no text")),
        None => Err(format!("the event has no `{name}`")),
    }
}

/// Returns a text that may be missing, but is not of another type.
pub(super) fn text(fields: &Fields, name: &str) -> Result<Option<String>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("`{name}` of the event is no text")),
    }
}

/// Returns an object that is needed.
pub(super) fn object(fields: &Fields, name: &str) -> Result<Value, String> {
    match fields.get(name) {
        Some(value @ Value::Object(_)) => Ok(value.clone()),
        Some(_) => Err(format!("`{name}` of the event is no object")),
        None => Err(format!("the event has no `{name}`")),
    }
}

/// Returns a value of any type that is needed.
pub(super) fn value(fields: &Fields, name: &str) -> Result<Value, String> {
    match fields.get(name) {
        Some(value) => Ok(value.clone()),
        None => Err(format!("the event has no `{name}`")),
    }
}

/// Returns a switch that may be missing.
pub(super) fn switch(fields: &Fields, name: &str) -> Result<Option<bool>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(is_on)) => Ok(Some(*is_on)),
        Some(_) => Err(format!("`{name}` of the event is neither `true` nor `false`")),
    }
}

pub(super) fn has(fields: &Fields, name: &str) -> bool {
    fields.contains_key(name)
}

/// Returns the text of a JSON value: of a text itself.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Returns the texts of a result that has parts.
pub(super) fn texts_of(result: &Value) -> String {
    let Value::Array(parts) = result else { return text_of(result) };
    let texts: Option<Vec<_>> = parts.iter().map(|part| part["text"].as_str()).collect();
    texts.map_or_else(|| result.to_string(), |texts| texts.join("\n"))
}
