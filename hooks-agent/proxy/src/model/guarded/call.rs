//! A tool call, and what hooks make of it.

use serde_json::Value;

/// A tool call of a model, or of a tool that its provider runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The arguments, if they are a JSON object.
    pub(crate) input: Option<Value>,
}

/// What becomes of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CallVerdict {
    Passes,
    /// It does not run, for this reason.
    Denied(String),
    /// It has other arguments.
    Rewritten(Value),
}

/// What becomes of the result of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ResultVerdict {
    Passes,
    Replaced(Value),
    /// Nobody reads it; this stands in its place.
    Withheld(String),
}

impl Call {
    /// Reads the arguments of a call, of which none are an object without fields.
    pub(crate) fn new(id: &str, name: &str, arguments: &str) -> Self {
        let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
        let input = serde_json::from_str(arguments).ok().filter(Value::is_object);
        Self { id: id.to_owned(), name: name.to_owned(), input }
    }
}
