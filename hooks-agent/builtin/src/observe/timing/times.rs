//! The times of a call, its rounds, its models and its tools.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::observe::timing::nanoseconds;

/// The times of a call. Starts are times since the start of the call. In JSON, times are numbers of
/// nanoseconds.
///
/// What had not ended when the call was measured has no total: in a call that failed, was
/// interrupted or was cancelled, that is what was running then.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallTiming {
    /// How long the call took until it was measured. It is measured before its reply, in which the
    /// hooks that come later may still take time, and again at its end.
    #[serde(with = "nanoseconds")]
    pub total: Duration,
    /// The rounds, in order. A call that resumes tool calls begins with a round without a model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<RoundTiming>,
    /// The summary, if the limit of rounds was reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<ModelTiming>,
    /// How many rounds and tool calls are left out, because the call had too many.
    #[serde(default)]
    pub omitted: u64,
}

/// The times of a round: the model, then the tools that it called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RoundTiming {
    /// When the round started.
    #[serde(with = "nanoseconds")]
    pub started: Duration,
    /// The time from the start to the end of what ended last.
    #[serde(with = "nanoseconds")]
    pub total: Duration,
    /// The model. `None` if a hook answered instead, or if the round resumes tool calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelTiming>,
    /// The tool calls, in the order in which they started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolTiming>,
}

/// The times of the model in a round. Hooks around the model, and so retries, are part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelTiming {
    /// The name of the model: of the one that answered, if it did.
    pub model: String,
    /// When it was called.
    #[serde(with = "nanoseconds")]
    pub started: Duration,
    /// The time to the first chunk that was shown.
    #[serde(default, with = "nanoseconds::optional", skip_serializing_if = "Option::is_none")]
    pub first_chunk: Option<Duration>,
    /// The time to the whole answer, or to the failure.
    #[serde(default, with = "nanoseconds::optional", skip_serializing_if = "Option::is_none")]
    pub total: Option<Duration>,
}

/// The times of a tool call, with its permission check and the hooks around the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolTiming {
    /// The id of the tool call.
    pub id: String,
    /// The name of the tool.
    pub tool: String,
    /// When it started.
    #[serde(with = "nanoseconds")]
    pub started: Duration,
    /// The time to its result. A tool call that waits for an answer has none.
    #[serde(default, with = "nanoseconds::optional", skip_serializing_if = "Option::is_none")]
    pub total: Option<Duration>,
}

impl CallTiming {
    /// Returns the tool calls of all rounds.
    pub fn tools(&self) -> impl Iterator<Item = &ToolTiming> {
        self.rounds.iter().flat_map(|round| &round.tools)
    }
}
