//! Requires that a tool has run before.

use crate::past::{Outcome, Past};
use crate::rule::tool_globs::ToolGlobs;

/// What must have run in the thread before a tool call: a tool, with an outcome, and nothing else since.
///
/// ```
/// use hooks_agent::builtin::guard::{Requires, Then, ToolRule};
///
/// let tested = Requires::new("run_tests").since("edit_*");
/// let deploy = ToolRule::new("tests before deploy", Then::Deny).tools(["deploy"]).requires(tested);
/// # let _ = deploy;
/// ```
#[derive(Clone, Debug)]
#[must_use = "a rule has it by `requires`"]
pub struct Requires {
    pub(super) tool: String,
    pub(super) outcome: Option<Outcome>,
    pub(super) since: Vec<String>,
}

impl Requires {
    /// Requires that a call of this tool has ended without an error.
    pub fn new(tool: impl Into<String>) -> Self {
        Self { tool: tool.into(), outcome: Some(Outcome::Ok), since: Vec::new() }
    }

    /// Requires a call that ended with an error.
    pub fn failed(mut self) -> Self {
        self.outcome = Some(Outcome::Error);
        self
    }

    /// Takes a call that ended in any way.
    pub fn any_outcome(mut self) -> Self {
        self.outcome = None;
        self
    }

    /// Requires that no tool that this glob matches has run after it.
    pub fn since(mut self, tools: impl Into<String>) -> Self {
        self.since.push(tools.into());
        self
    }
}

/// What must have run before, checked.
#[derive(Debug)]
pub(crate) struct Required {
    pub(super) tool: String,
    pub(super) outcome: Option<Outcome>,
    pub(super) since: Option<ToolGlobs>,
    pub(super) since_texts: String,
}

impl Required {
    /// Returns whether it has run.
    pub(crate) fn is_met(&self, past: &Past) -> bool {
        let since = self.since.as_ref();
        let others =
            |tool: &str, server: Option<&str>| since.is_some_and(|it| it.is_match(tool, server));
        past.has_finished(&self.tool, self.outcome, others)
    }

    /// Returns what is missing, for the model.
    pub(crate) fn missing(&self) -> String {
        let outcome = match self.outcome {
            Some(Outcome::Ok) => " without an error",
            Some(Outcome::Error) => " with an error",
            None => "",
        };
        let since = match &self.since {
            Some(_) => format!(", after the last call of {}", self.since_texts),
            None => String::new(),
        };
        format!("`{}` must have ended{outcome} before{since}", self.tool)
    }
}
