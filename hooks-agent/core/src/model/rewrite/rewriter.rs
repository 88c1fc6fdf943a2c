//! A rewriter of texts.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::message::{ToolUse, map_strings, number_text};
use crate::model::rewrite::block::{Block, found};
use crate::model::rewrite::find::{Find, Finding, Within};
use crate::model::rewrite::searched::{CallTexts, KeepDigests, Searched};

/// Replaces or blocks what a [`Find`] finds: in a text, and in the answer of a model while it streams.
///
/// [`Rewrite`](crate::hook::Rewrite) is a rewriter as a hook;
/// [`ModelAnswer::rewrite`](crate::model::ModelAnswer::rewrite) rewrites an answer. Several rewriters
/// of one answer search the same text, and text is held back once, for the longest of them. Findings
/// that overlap are replaced together, by the replacement of the longest one, of equal ones that of
/// the outer hook; if one of them blocks, they block. A [`Find`] that panics blocks.
///
/// ```
/// use hooks_agent::model::{Finding, Rewriter};
///
/// let mask = Rewriter::within(6, |text, from| {
///     let start = from + text[from..].find("secret")?;
///     Some(Finding::Replace { range: start..start + 6, text: "***".to_owned() })
/// });
/// assert_eq!(mask.text("The secret word."), Ok("The *** word.".to_owned()));
/// ```
#[derive(Clone)]
pub struct Rewriter {
    pub(super) find: Arc<dyn Find>,
    pub(super) rewrites_thinking: bool,
    pub(super) rewrites_text: bool,
    pub(super) rewrites_arguments: bool,
    pub(crate) id: Option<Arc<str>>,
    /// The texts that it has decided on.
    pub(super) searched: Option<Searched>,
}

impl Rewriter {
    /// Creates a rewriter.
    #[must_use]
    pub fn new(find: impl Find) -> Self {
        Self {
            find: Arc::new(find),
            rewrites_text: true,
            rewrites_thinking: true,
            rewrites_arguments: false,
            id: None,
            searched: None,
        }
    }

    /// Creates a rewriter that holds back `window` characters: a finding depends only on the found text
    /// itself and on at most `window` characters after its start.
    ///
    /// `find` returns the first finding that starts at the given position of the text or later.
    #[must_use]
    pub fn within(
        window: usize,
        find: impl Fn(&str, usize) -> Option<Finding> + Send + Sync + 'static,
    ) -> Self {
        Self::new(Within { window, find })
    }

    /// Leaves the thoughts of the model unchanged.
    #[must_use]
    pub fn text_only(mut self) -> Self {
        self.rewrites_thinking = false;
        self
    }

    /// Rewrites the arguments of tool calls, too: each string, key and number by itself.
    #[must_use]
    pub fn tool_arguments(mut self) -> Self {
        self.rewrites_arguments = true;
        self
    }

    /// Leaves the texts and thoughts of the model unchanged, for a rewriter of
    /// [arguments](Rewriter::tool_arguments).
    #[must_use]
    pub fn arguments_only(mut self) -> Self {
        self.rewrites_text = false;
        self.rewrites_thinking = false;
        self.tool_arguments()
    }

    /// Names what is searched for, so that a [hook](crate::hook::Rewrite) knows what it has rewritten
    /// after a restart, too, in the threads of a [store](crate::react::ReActAgentBuilder::store): it does
    /// not search it again. Rewriters that search for something else need another id.
    ///
    /// Without an id, what was rewritten in another process is searched again: one replacement may make
    /// boundaries of words that show another one.
    #[must_use]
    pub fn known_as(mut self, id: impl Into<Arc<str>>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Leaves texts unchanged that the rewriter of this id has decided on.
    pub(crate) fn remembering(
        mut self,
        id: Arc<str>,
        call: Arc<CallTexts>,
        kept: Arc<dyn KeepDigests>,
    ) -> Self {
        self.searched = Some(Searched::new(id, self.find.clone(), call, kept));
        self
    }

    /// Notes its decisions as those of another rewriter, which finds nothing that it does not find. A text
    /// on which that one has decided is searched if it has `more` to find.
    #[must_use]
    pub fn deciding_for(
        mut self,
        other: &Self,
        more: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.searched = other.searched.clone().map(|searched| searched.unless(more));
        self
    }

    /// Does not note the texts in which it finds nothing.
    pub(crate) fn noting_changes_only(mut self) -> Self {
        self.searched = self.searched.map(Searched::changes_only);
        self
    }

    /// Returns whether thoughts of the model are rewritten.
    #[must_use]
    pub fn rewrites_thinking(&self) -> bool {
        self.rewrites_thinking
    }

    /// Returns whether there is something to rewrite in a complete text.
    #[must_use]
    pub fn has_findings(&self, text: &str) -> bool {
        if text.is_empty() {
            return false;
        }
        let is_unchanged = matches!(found(&*self.find, text, 0), Ok(None));
        let Some(searched) = &self.searched else { return !is_unchanged };
        if is_unchanged {
            searched.unchanged(text);
        }
        !is_unchanged && !searched.has(text)
    }

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
        let finds = |text: &str, from| !matches!(found(&*self.find, text, from), Ok(None));
        let has = |text: &str| self.searched.as_ref().is_some_and(|searched| searched.has(text));
        if text.is_empty() || finds(text, 0) && has(text) {
            return false;
        }
        let field = Field::new(key, text);
        finds(&field.text, field.from) && !has(&field.text)
    }

    /// Rewrites the text of a field, also by what its key tells of it.
    pub(crate) fn field(&self, key: Option<&str>, text: &str) -> Result<String, String> {
        let Some(key) = key.filter(|key| self.has_findings_behind(key, text)) else {
            return self.text(text);
        };
        let field = Field::new(key, text);
        let (mut block, mut rewritten) = (Block::of_rest(&field.text, field.from), String::new());
        let finders = std::slice::from_ref(&self.find);
        if let Some(reason) = block.release(finders, field.text.len(), &mut rewritten) {
            return Err(reason);
        }
        if let Some(searched) = &self.searched {
            searched.wrote(&field.text, &Field::new(key, &rewritten).text);
            searched.wrote(text, &rewritten);
        }
        Ok(rewritten)
    }

    /// Rewrites a complete text.
    ///
    /// # Errors
    /// The reason, if a finding blocks the text.
    pub fn text(&self, text: &str) -> Result<String, String> {
        if !self.has_findings(text) {
            return Ok(text.to_owned());
        }
        let (mut block, mut rewritten) = (Block::of(text), String::new());
        let finders = std::slice::from_ref(&self.find);
        let blocked = block.release(finders, text.len(), &mut rewritten);
        match (blocked, &self.searched) {
            (Some(reason), _) => return Err(reason),
            (None, Some(searched)) => searched.wrote(text, &rewritten),
            (None, None) => {}
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
        if let Some(written) = &mut call.invalid_input {
            *written = self.text(written)?;
        }
        self.value(&mut call.input)
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

impl fmt::Debug for Rewriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rewriter")
            .field("rewrites_thinking", &self.rewrites_thinking)
            .field("rewrites_arguments", &self.rewrites_arguments)
            .finish_non_exhaustive()
    }
}
