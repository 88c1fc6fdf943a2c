//! The answer of a hook that is a program: its output and its exit code.

use serde_json::{Value, json};

/// What the program of a hook says to its agent: one JSON object or nothing on standard output, a text on standard
/// error, an exit code.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The object.
    pub json: Option<Value>,
    /// The text, for agents that read it.
    pub error: Option<String>,
    /// The exit code.
    pub code: u8,
}

impl Answer {
    /// Answers by JSON.
    pub(super) fn json(json: Value) -> Self {
        Self { json: Some(json), ..Self::default() }
    }

    /// Says nothing, as an object: an agent may take an empty output for a failure.
    pub(super) fn nothing() -> Self {
        Self::json(json!({}))
    }

    /// Blocks by exit code 2, with the reason on standard error. It is never blank: some agents go on without one.
    pub(super) fn exit_2(reason: &str) -> Self {
        Self { json: None, error: Some(said(reason)), code: 2 }
    }
}

/// Returns a reason that is not blank.
pub(super) fn said(reason: &str) -> String {
    let reason = reason.trim();
    if reason.is_empty() { "blocked by the policy".to_owned() } else { reason.to_owned() }
}
