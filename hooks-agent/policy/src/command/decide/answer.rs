//! The answer of one command.

use serde_json::{Map, Value};

/// What a command says about an event. A later variant beats an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::command) enum Verdict {
    #[default]
    None,
    Allow,
    Ask,
    Defer,
    Block,
}

/// The answer of a command that did not fail.
#[derive(Debug, Default)]
pub(in crate::command) struct Answer {
    pub(in crate::command) verdict: Verdict,
    /// Why, of the verdict.
    pub(in crate::command) reason: Option<String>,
    /// Whether the call ends.
    pub(in crate::command) ends_call: bool,
    /// Why it ends.
    pub(in crate::command) stop_reason: Option<String>,
    /// The whole new arguments.
    pub(in crate::command) rewrite: Option<Map<String, Value>>,
    /// What the model reads in place of the result.
    pub(in crate::command) result: Option<Value>,
    /// Text for the model.
    pub(in crate::command) context: Option<String>,
    /// A warning for people.
    pub(in crate::command) warning: Option<String>,
}

impl Answer {
    /// Returns the new arguments, unless the tool call does not run now.
    pub(in crate::command) fn effective_rewrite(&self) -> Option<&Map<String, Value>> {
        self.rewrite.as_ref().filter(|_| self.verdict < Verdict::Defer && !self.ends_call)
    }

    /// Returns whether no later command of a sequence needs to run.
    pub(in crate::command) fn ends_sequence(&self) -> bool {
        self.verdict == Verdict::Block || self.ends_call
    }
}
