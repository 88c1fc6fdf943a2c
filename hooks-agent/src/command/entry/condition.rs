//! Which tool calls a command is for.

use globset::{Glob, GlobMatcher};
use serde_json::Value;

use crate::message::ToolUse;

/// A checked condition: `Tool` or `Tool(glob)`.
#[derive(Clone, Debug)]
pub(in crate::command) struct Condition {
    tool: GlobMatcher,
    argument: Option<GlobMatcher>,
}

impl Condition {
    /// Reads a condition. The error says what was expected.
    pub(in crate::command) fn new(text: &str) -> Result<Self, String> {
        let (tool, argument) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => {
                let glob = rest.strip_suffix(')');
                (tool, Some(glob.ok_or("expected `)` at the end, as in `Tool(glob)`")?))
            }
        };
        if tool.trim().is_empty() {
            return Err("expected the name of a tool, as in `Tool(glob)`".to_owned());
        }
        let argument = argument.filter(|glob| !glob.is_empty()).map(glob).transpose()?;
        Ok(Self { tool: glob(tool.trim())?, argument })
    }

    /// Returns whether the tool call is of this form. The order of arguments is up to the model, so
    /// all texts among them are tested.
    pub(in crate::command) fn holds(&self, call: &ToolUse) -> bool {
        let argument = self.argument.as_ref();
        self.tool.is_match(&call.name) && argument.is_none_or(|glob| has_text(&call.input, glob))
    }
}

fn has_text(value: &Value, glob: &GlobMatcher) -> bool {
    match value {
        Value::String(text) => glob.is_match(text),
        Value::Array(values) => values.iter().any(|value| has_text(value, glob)),
        Value::Object(fields) => fields.values().any(|value| has_text(value, glob)),
        _ => false,
    }
}

fn glob(text: &str) -> Result<GlobMatcher, String> {
    let compiled = Glob::new(text).map_err(|error| format!("invalid glob: {}", error.kind()))?;
    Ok(compiled.compile_matcher())
}
