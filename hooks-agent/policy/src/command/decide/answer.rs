//! The answer of one command.

use serde_json::{Map, Value};

/// What a command says about an event. A later variant beats an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    #[default]
    None,
    Allow,
    Ask,
    Defer,
    Block,
}

/// The answer of a command that did not fail.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) verdict: Verdict,
    /// Why, of the verdict.
    pub(crate) reason: Option<String>,
    /// Whether the call ends.
    pub(crate) ends_call: bool,
    /// Why it ends.
    pub(crate) stop_reason: Option<String>,
    /// The whole new arguments.
    pub(crate) rewrite: Option<Map<String, Value>>,
    /// What the model reads in place of the result.
    pub(crate) result: Option<Value>,
    /// Text for the model.
    pub(crate) context: Option<String>,
    /// A warning for people.
    pub(crate) warning: Option<String>,
}

impl Answer {
    /// Returns the new arguments, unless the tool call does not run now.
    pub(crate) fn effective_rewrite(&self) -> Option<&Map<String, Value>> {
        self.rewrite.as_ref().filter(|_| self.verdict < Verdict::Defer && !self.ends_call)
    }

    /// Returns whether no later command of a sequence needs to run.
    pub(crate) fn ends_sequence(&self) -> bool {
        self.verdict == Verdict::Block || self.ends_call
    }
}
