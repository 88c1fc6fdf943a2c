//! Notes of hooks, for people who are asked about a tool call.

use serde::{Deserialize, Serialize};

/// What a hook knows of a tool call, for people who are asked about it; see
/// [`CallContext::tell_people`](crate::call::CallContext::tell_people).
///
/// ```
/// use hooks_agent::message::Note;
///
/// let note = Note::new("to", "stands in the address book");
/// assert_eq!(note.to_string(), "`to` stands in the address book");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Note {
    /// The path of the argument that it is about, such as `to[1]`; empty if it is about the whole tool call.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub argument: String,
    /// What is said of it: a sentence without its subject.
    pub text: String,
}

impl Note {
    /// Creates a note about an argument, or, with an empty path, about the tool call.
    #[must_use]
    pub fn new(argument: impl Into<String>, text: impl Into<String>) -> Self {
        Self { argument: argument.into(), text: text.into() }
    }
}

/// Writes the argument in backticks before the text; `The call` if it is about the whole tool call.
impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { argument, text } = self;
        match &**argument {
            "" => write!(f, "The call {text}"),
            argument => write!(f, "`{argument}` {text}"),
        }
    }
}
