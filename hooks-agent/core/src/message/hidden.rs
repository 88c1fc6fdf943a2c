//! Arguments of a tool call that only the tool receives.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::message::block::ToolUse;
use crate::message::output::ToolOutput;

/// What stands in place of a hidden argument.
const PLACEHOLDER: &str = "[hidden]";

/// Shorter texts are not searched for in what a tool returns: they would be found everywhere.
const SHORTEST: usize = 4;

/// The values of hidden arguments, by name. `Debug` shows the names alone.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Hidden(Option<Arc<Vec<Argument>>>);

/// A hidden argument, and what stands in its place.
#[derive(Clone, PartialEq)]
struct Argument {
    name: String,
    value: Value,
    shown: Value,
}

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
        self.hide_as(name, value, PLACEHOLDER);
    }

    /// Sets an argument that only the tool receives, like [`hide`](ToolUse::hide), with another value in
    /// its place: a text in `value` is replaced by that at the same position of `shown`.
    pub fn hide_as(
        &mut self,
        name: impl Into<String>,
        value: impl Into<Value>,
        shown: impl Into<Value>,
    ) {
        let argument = Argument { name: name.into(), value: value.into(), shown: shown.into() };
        if let Value::Object(input) = &mut self.input {
            input.insert(argument.name.clone(), argument.shown.clone());
        }
        let hidden = Arc::make_mut(self.hidden.0.get_or_insert_default());
        hidden.retain(|known| known.name != argument.name);
        hidden.push(argument);
    }

    /// Returns whether this argument is [hidden](Self::hide): a hook that removed or replaced it since
    /// has made it public again.
    #[must_use]
    pub fn is_hidden(&self, name: &str) -> bool {
        let mut hidden = self.hidden.0.iter().flat_map(|hidden| hidden.iter());
        hidden.any(|it| it.name == name && self.input.get(name) == Some(&it.shown))
    }

    /// Returns the arguments with the hidden values, if there are any. A hidden argument that a hook
    /// has removed or replaced since stays so.
    pub(crate) fn revealed(&self) -> Option<Value> {
        let hidden = self.hidden.0.as_ref()?;
        let mut revealed = self.input.clone();
        for Argument { name, value, shown } in &**hidden {
            if let Some(input) = revealed.get_mut(name).filter(|input| *input == shown) {
                *input = value.clone();
            }
        }
        Some(revealed)
    }

    /// Returns the arguments as the tool receives them, with the [hidden](Self::hide) ones. For checks right before
    /// the tool; what is made of them must not be shown.
    ///
    /// ```
    /// use hooks_agent::message::ToolUse;
    /// use serde_json::json;
    ///
    /// let mut call = ToolUse::new("1", "search", json!({ "q": "rust" }));
    /// call.hide("key", "s3cr3t");
    /// assert_eq!(*call.received_input(), json!({ "q": "rust", "key": "s3cr3t" }));
    /// ```
    #[must_use]
    pub fn received_input(&self) -> Cow<'_, Value> {
        self.revealed().map_or(Cow::Borrowed(&self.input), Cow::Owned)
    }

    /// Returns whether it calls the same tool with the same arguments, apart from those that are
    /// [hidden](Self::hide) in either: whether people who have seen one have seen the other.
    ///
    /// ```
    /// use hooks_agent::message::ToolUse;
    /// use serde_json::json;
    ///
    /// let shown = ToolUse::new("1", "search", json!({ "q": "rust" }));
    /// let mut runs = shown.clone();
    /// runs.hide("key", "s3cr3t");
    /// assert!(runs.equals_but_hidden(&shown));
    /// runs.input["q"] = "go".into();
    /// assert!(!runs.equals_but_hidden(&shown));
    /// ```
    #[must_use]
    pub fn equals_but_hidden(&self, other: &Self) -> bool {
        self.name == other.name && self.public_input(other) == other.public_input(self)
    }

    /// Returns the arguments without those that are hidden here or there.
    fn public_input(&self, other: &Self) -> Cow<'_, Value> {
        if self.hidden.0.is_none() && other.hidden.0.is_none() {
            return Cow::Borrowed(&self.input);
        }
        let mut input = self.input.clone();
        if let Value::Object(fields) = &mut input {
            fields.retain(|name, _| !self.is_hidden(name) && !other.is_hidden(name));
        }
        Cow::Owned(input)
    }

    /// Removes the [hidden](Self::hide) values, for a tool call that is recorded or sent elsewhere: what is shown
    /// in their place stays.
    #[must_use]
    pub fn without_hidden(mut self) -> Self {
        self.hidden = Hidden::default();
        self
    }

    /// Replaces the texts of hidden arguments in a text; `None` if there are none in it.
    pub(crate) fn masked(&self, text: &str) -> Option<String> {
        let mut masked = None;
        for (secret, shown) in self.secrets() {
            let text = masked.as_deref().unwrap_or(text);
            if text.contains(&secret) {
                masked = Some(text.replace(&secret, &shown));
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

    /// Returns the texts of the hidden arguments and what replaces them, the longest first.
    fn secrets(&self) -> Vec<(String, String)> {
        let Some(hidden) = &self.hidden.0 else { return Vec::new() };
        let mut secrets = Vec::new();
        for Argument { value, shown, .. } in &**hidden {
            collect(value, shown, &mut secrets);
        }
        secrets.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
        secrets
    }
}

/// Collects the texts of a value that are not shown, each also as JSON writes it.
fn collect(value: &Value, shown: &Value, into: &mut Vec<(String, String)>) {
    if value == shown {
        return;
    }
    let none = Value::from(PLACEHOLDER);
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Array(values) => {
            let shown = |index| shown.get(index).unwrap_or(&none);
            return values.iter().enumerate().for_each(|(at, it)| collect(it, shown(at), into));
        }
        Value::Object(fields) => {
            let shown = |name: &String| shown.get(name).unwrap_or(&none);
            return fields.iter().for_each(|(name, it)| collect(it, shown(name), into));
        }
        Value::Null | Value::Bool(_) => return,
    };
    if text.chars().count() < SHORTEST {
        return;
    }
    let shown = shown.as_str().unwrap_or(PLACEHOLDER).to_owned();
    let written = Value::from(text.as_str()).to_string();
    let escaped = written[1..written.len() - 1].to_owned();
    if escaped != text {
        into.push((escaped, shown.clone()));
    }
    into.push((text, shown));
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.0.iter().flat_map(|hidden| hidden.iter().map(|it| &it.name)))
            .finish()
    }
}
