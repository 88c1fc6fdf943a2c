//! The lines of a tape.

use serde::Deserialize;
use serde_json::Value;

/// The kind of a line, its field `t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// The first line.
    Header,
    /// The start of a call of an agent.
    Call,
    /// A call of the model.
    Model,
    /// A call of a tool.
    Tool,
    /// What a hook did.
    Decision,
    /// The end of a call of an agent.
    End,
    /// The last line.
    Close,
}

/// A line. `R` is what its request and its messages are read as, and `V` its other large parts: a
/// `Value`, or `IgnoredAny` for an index.
#[derive(Debug, Deserialize)]
pub(crate) struct Line<R, V = R> {
    pub(crate) t: Kind,
    pub(crate) format: Option<String>,
    pub(crate) version: Option<u64>,
    pub(crate) redacted: Option<Vec<String>>,
    pub(crate) agent: Option<String>,
    pub(crate) run: Option<String>,
    pub(crate) thread: Option<String>,
    pub(crate) parent: Option<String>,
    pub(crate) tool_call: Option<String>,
    pub(crate) messages: Option<R>,
    #[serde(default)]
    pub(crate) confirmed: Vec<String>,
    pub(crate) round: Option<u32>,
    pub(crate) attempt: Option<u32>,
    pub(crate) key: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) provider: Option<String>,
    pub(crate) request: Option<R>,
    pub(crate) chunks: Option<V>,
    pub(crate) ms: Option<u64>,
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) n: Option<u32>,
    pub(crate) input: Option<V>,
    pub(crate) output: Option<V>,
    #[serde(default)]
    pub(crate) is_error: bool,
    pub(crate) error: Option<Value>,
    pub(crate) hook: Option<String>,
    pub(crate) event: Option<String>,
    pub(crate) flow: Option<String>,
    #[serde(default)]
    pub(crate) changed: Vec<String>,
    pub(crate) outcome: Option<String>,
    pub(crate) reply: Option<Value>,
    pub(crate) lines: Option<usize>,
    pub(crate) sum: Option<String>,
}
