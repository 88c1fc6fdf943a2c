//! The texts and numbers in the arguments of a tool call, with what they say.

use hooks_agent_core::message::ToolUse;
use serde_json::Value;

use crate::provenance::labels::{Role, Sink};

/// A text or number in the arguments.
pub(crate) struct Argument<'a> {
    /// The name of the field that says what it is, and the whole path.
    pub(crate) name: &'a str,
    pub(crate) path: String,
    pub(crate) role: Role,
    pub(crate) value: String,
}

/// Returns the texts and numbers in the arguments of a tool call.
pub(crate) fn arguments<'a>(call: &'a ToolUse, sink: &Sink) -> Vec<Argument<'a>> {
    let mut arguments = Vec::new();
    match &call.input {
        Value::Object(fields) => {
            for (name, value) in fields {
                add(name, name.clone(), sink, None, value, &mut arguments);
            }
        }
        // Which argument is which is not known.
        input => add("", String::new(), sink, Some(Role::Destination), input, &mut arguments),
    }
    // What changes something acts on something.
    if sink.is_unknown() && arguments.iter().all(|it| it.role == Role::Content) {
        for argument in &mut arguments {
            argument.role = Role::Destination;
        }
    }
    arguments
}

fn add<'a>(
    name: &'a str,
    path: String,
    sink: &Sink,
    outer: Option<Role>,
    value: &'a Value,
    arguments: &mut Vec<Argument<'a>>,
) {
    let role = outer.unwrap_or_else(|| sink.role(name));
    match value {
        Value::String(text) if !text.trim().is_empty() => {
            arguments.push(Argument { name, path, role, value: text.trim().to_owned() });
        }
        Value::Number(number) => {
            arguments.push(Argument { name, path, role, value: number.to_string() });
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                add(name, format!("{path}[{index}]"), sink, Some(role), value, arguments);
            }
        }
        Value::Object(fields) => {
            // A destination is one in all its parts, and so is a content that is listed. Of others, parts may be a
            // destination by their names.
            let is_of_all = role == Role::Destination || sink.lists(name);
            for (field, value) in fields {
                // A name of a field of a destination may be one.
                if is_of_all && !is_plain_name(field) {
                    let (path, value) = (format!("{path}.{field}"), field.trim().to_owned());
                    arguments.push(Argument { name, path, role, value });
                }
                let outer = is_of_all.then_some(role);
                add(field, format!("{path}.{field}"), sink, outer, value, arguments);
            }
        }
        _ => {}
    }
}

/// Whether the name of a field is one that a schema has: a word, and no value.
fn is_plain_name(name: &str) -> bool {
    name.trim().is_empty() || name.chars().all(|it| it.is_alphabetic() || it == '_')
}
