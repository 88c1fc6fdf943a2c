//! What is on a line.

use serde::Deserialize;
use serde_json::Value;

/// The kind of a line, its field `t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::replay) enum Kind {
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
pub(in crate::replay) struct Line<R, V = R> {
    pub(in crate::replay) t: Kind,
    pub(in crate::replay) format: Option<String>,
    pub(in crate::replay) version: Option<u64>,
    pub(in crate::replay) redacted: Option<Vec<String>>,
    pub(in crate::replay) agent: Option<String>,
    pub(in crate::replay) run: Option<String>,
    pub(in crate::replay) thread: Option<String>,
    pub(in crate::replay) parent: Option<String>,
    pub(in crate::replay) tool_call: Option<String>,
    pub(in crate::replay) messages: Option<R>,
    #[serde(default)]
    pub(in crate::replay) confirmed: Vec<String>,
    pub(in crate::replay) round: Option<u32>,
    pub(in crate::replay) attempt: Option<u32>,
    pub(in crate::replay) key: Option<String>,
    pub(in crate::replay) model: Option<String>,
    pub(in crate::replay) provider: Option<String>,
    pub(in crate::replay) request: Option<R>,
    pub(in crate::replay) chunks: Option<V>,
    pub(in crate::replay) ms: Option<u64>,
    pub(in crate::replay) id: Option<String>,
    pub(in crate::replay) name: Option<String>,
    pub(in crate::replay) n: Option<u32>,
    pub(in crate::replay) input: Option<V>,
    pub(in crate::replay) output: Option<V>,
    #[serde(default)]
    pub(in crate::replay) is_error: bool,
    pub(in crate::replay) error: Option<Value>,
    pub(in crate::replay) hook: Option<String>,
    pub(in crate::replay) event: Option<String>,
    pub(in crate::replay) flow: Option<String>,
    #[serde(default)]
    pub(in crate::replay) changed: Vec<String>,
    pub(in crate::replay) outcome: Option<String>,
    pub(in crate::replay) reply: Option<Value>,
    pub(in crate::replay) lines: Option<usize>,
    pub(in crate::replay) sum: Option<String>,
}
