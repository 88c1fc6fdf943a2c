//! Arguments of a tool call that only the tool receives.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::message::{ToolOutput, ToolUse};

/// What stands in place of a hidden argument.
pub(crate) const PLACEHOLDER: &str = "[hidden]";

/// Shorter texts are not searched for in what a tool returns: they would be found everywhere.
const SHORTEST: usize = 4;

/// The values of hidden arguments, by name. `Debug` shows the names alone.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Hidden(Option<Arc<Map<String, Value>>>);

impl ToolUse {
    /// Sets an argument that only the tool receives, by
    /// [`ToolContext::input`](crate::tool::ToolContext::input). Everywhere else, in `input`, in memory,
    /// streams, logs and [`ran`](crate::message::ToolResult::ran), its value is `[hidden]`. A text of at
    /// least four characters in it is also replaced in what the tool returns, reports and fails with.
    ///
    /// An agent that runs as a tool does not receive hidden arguments.
    ///
    /// ```
    /// use hooks_agent::message::ToolUse;
    /// use serde_json::json;
    ///
    /// let mut call = ToolUse::new("1", "search", json!({ "q": "rust" }));
    /// call.hide("key", "s3cr3t");
    /// assert_eq!(call.input, json!({ "q": "rust", "key": "[hidden]" }));
    /// assert!(!format!("{call:?}").contains("s3cr3t"));
    /// ```
    pub fn hide(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        let name = name.into();
        if let Value::Object(input) = &mut self.input {
            input.insert(name.clone(), PLACEHOLDER.into());
        }
        Arc::make_mut(self.hidden.0.get_or_insert_default()).insert(name, value.into());
    }

    /// Returns whether this argument is [hidden](Self::hide): a hook that removed or replaced it since
    /// has made it public again.
    #[must_use]
    pub fn is_hidden(&self, name: &str) -> bool {
        let hidden = self.hidden.0.as_ref().is_some_and(|hidden| hidden.contains_key(name));
        hidden && self.input.get(name).is_some_and(|input| input == PLACEHOLDER)
    }

    /// Returns the arguments with the hidden values, if there are any. A hidden argument that a hook
    /// has removed or replaced since stays so.
    pub(crate) fn revealed(&self) -> Option<Value> {
        let hidden = self.hidden.0.as_ref()?;
        let mut revealed = self.input.clone();
        for (name, value) in &**hidden {
            if let Some(input) = revealed.get_mut(name).filter(|input| *input == PLACEHOLDER) {
                *input = value.clone();
            }
        }
        Some(revealed)
    }

    /// Removes the hidden values, for a tool call that is recorded.
    pub(crate) fn without_hidden(mut self) -> Self {
        self.hidden = Hidden::default();
        self
    }

    /// Replaces the texts of hidden arguments in a text; `None` if there are none in it.
    pub(crate) fn masked(&self, text: &str) -> Option<String> {
        let mut masked = None;
        for secret in self.secrets() {
            let text = masked.as_deref().unwrap_or(text);
            if text.contains(&secret) {
                masked = Some(text.replace(&secret, PLACEHOLDER));
            }
        }
        masked
    }

    /// Replaces the texts of hidden arguments in the output of the tool.
    pub(crate) fn mask_output(&self, output: &mut ToolOutput) {
        if self.hidden.0.is_some() {
            output.map_text(|text| self.masked(text).unwrap_or_else(|| text.to_owned()));
        }
    }

    /// Returns the texts of the hidden arguments, the longest first.
    fn secrets(&self) -> Vec<String> {
        let Some(hidden) = &self.hidden.0 else { return Vec::new() };
        let mut secrets = Vec::new();
        hidden.values().for_each(|value| collect(value, &mut secrets));
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets
    }
}

/// Collects the texts of a value, and as JSON writes them.
fn collect(value: &Value, into: &mut Vec<String>) {
    let text = match value {
        Value::String(text) => {
            let written = Value::from(text.as_str()).to_string();
            let escaped = written.trim_matches('"');
            if escaped != text {
                into.push(escaped.to_owned());
            }
            text.clone()
        }
        Value::Number(number) => number.to_string(),
        Value::Array(values) => return values.iter().for_each(|value| collect(value, into)),
        Value::Object(fields) => return fields.values().for_each(|value| collect(value, into)),
        Value::Null | Value::Bool(_) => return,
    };
    if text.chars().count() >= SHORTEST {
        into.push(text);
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.iter().flat_map(|hidden| hidden.keys())).finish()
    }
}
