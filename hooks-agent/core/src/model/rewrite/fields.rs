//! Rewrites values: strings, keys and numbers, with what the key of a field tells of its value.

use serde_json::Value;

use crate::message::{ToolUse, map_strings, number_text};
use crate::model::rewrite::rewriter::Rewriter;
use crate::model::rewrite::used::TextPlace;

impl Rewriter {
    /// Returns whether there is something to rewrite in the strings, keys and numbers of a value. The key of
    /// a field stands before its value: `ssn` before a number tells what it is.
    #[must_use]
    pub fn has_findings_in(&self, value: &Value) -> bool {
        self.has_findings_in_field(None, value)
    }

    fn has_findings_in_field(&self, key: Option<&str>, value: &Value) -> bool {
        let has = |text: &str| {
            self.has_findings(text) || key.is_some_and(|key| self.has_findings_behind(key, text))
        };
        match value {
            Value::String(text) => has(text),
            Value::Number(number) => has(&number_text(number)),
            Value::Array(values) => {
                values.iter().any(|value| self.has_findings_in_field(key, value))
            }
            Value::Object(fields) => fields.iter().any(|(key, value)| {
                self.has_findings(key) || self.has_findings_in_field(Some(key), value)
            }),
            Value::Null | Value::Bool(_) => false,
        }
    }

    /// Returns whether there is something to rewrite in the text of a field, behind its key. Nothing is in a
    /// text that the rewriter wrote itself.
    fn has_findings_behind(&self, key: &str, text: &str) -> bool {
        if text.is_empty() {
            return false;
        }
        let field = Field::new(key, text);
        let finds = || self.finds(&field.text, field.from);
        let Some(searched) = &self.searched else { return finds() };
        if !self.asks() {
            let is_own = self.finds(text, 0) && searched.has(text);
            return !is_own && finds() && !searched.has(&field.text);
        }
        let finds = !searched.has(&field.text) && finds();
        if !finds {
            searched.unchanged(&field.text);
        }
        finds
    }

    /// Rewrites the text of a field, also by what its key tells of it.
    pub(crate) fn field(&self, key: Option<&str>, text: &str) -> Result<String, String> {
        let Some(key) = key else { return self.text(text) };
        let has_findings = self.has_findings_behind(key, text);
        if !has_findings && !self.asks() {
            return self.text(text);
        }
        let field = Field::new(key, text);
        let rewritten =
            if has_findings { self.rest(&field.text, field.from)? } else { self.text(text)? };
        let is_changed = has_findings || rewritten != text;
        if let Some(searched) = self.searched.as_ref().filter(|_| is_changed) {
            searched.wrote(&field.text, &Field::new(key, &rewritten).text);
            searched.wrote(text, &rewritten);
        }
        Ok(rewritten)
    }

    /// Rewrites the strings, keys and numbers of a value. A number that changes becomes a string.
    ///
    /// # Errors
    /// The reason, if a finding blocks one of them; the value is then incomplete.
    pub fn value(&self, value: &mut Value) -> Result<(), String> {
        if !self.has_findings_in(value) {
            return Ok(());
        }
        map_strings(value, &mut |key, text| self.field(key, text))
    }

    /// Rewrites the arguments of a tool call, also those that are no JSON object.
    ///
    /// # Errors
    /// The reason, if a finding blocks one of them; the arguments are then incomplete.
    pub fn tool_use(&self, call: &mut ToolUse) -> Result<(), String> {
        let rewriter = self.at(TextPlace::ToolArguments, Some(&call.name));
        if let Some(written) = &mut call.invalid_input {
            *written = rewriter.text(written)?;
        }
        rewriter.value(&mut call.input)
    }
}

/// A key and the text of its field.
struct Field {
    text: String,
    /// Where the text of the field starts.
    from: usize,
}

impl Field {
    fn new(key: &str, text: &str) -> Self {
        Self { text: format!("{key}: {text}"), from: key.len() + 2 }
    }
}
