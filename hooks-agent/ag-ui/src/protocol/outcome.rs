//! Outcomes of runs, and the interrupts that they wait for.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How a run ended that did not fail.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Outcome {
    /// It is complete.
    Success {
        /// The calls of tools of the client that the client answers in its next input.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pending_tool_call_ids: Vec<String>,
    },
    /// It waits for people.
    Interrupt {
        /// What they are asked.
        interrupts: Vec<Interrupt>,
    },
    /// It was interrupted.
    Cancelled,
}

/// How a sub-agent ended that did not fail.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum SubagentOutcome {
    /// It is complete.
    Success,
    /// It waits for people.
    Suspended {
        /// The interrupts of the run that it waits for.
        interrupt_ids: Vec<String>,
    },
}

/// A question to people about a tool call.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Interrupt {
    /// The id, by which the next input answers it.
    pub id: String,
    /// Why the run waits: `tool_call`.
    pub reason: &'static str,
    /// The tool call.
    pub tool_call_id: String,
    /// The text for the person.
    pub message: String,
    /// The JSON schema of the answer.
    pub response_schema: Value,
    /// Until when it can be answered, in the form of RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// The tool, its arguments as hooks left them, and the sub-agents on the way to it, under `hooks`.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// The tokens of one model. A count that the provider did not report is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct TokenUsage {
    /// The provider, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tokens of the requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// The tokens of the answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Both together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
}
