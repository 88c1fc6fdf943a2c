//! The input of a run.

use serde::Deserialize;
use serde_json::Value;

/// The input of a run, as a client sends it. Members that are not known are ignored.
///
/// ```
/// use hooks_agent::builtin::connect::ag_ui::RunAgentInput;
///
/// let input: RunAgentInput = serde_json::from_str(
///     r#"{"threadId":"t","runId":"r","messages":[{"id":"m","role":"user","content":"hi"}]}"#,
/// )?;
/// assert_eq!(input.thread_id, "t");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunAgentInput {
    /// The conversation.
    pub thread_id: String,
    /// The run.
    pub run_id: String,
    /// The run that this one belongs to.
    #[serde(default)]
    pub parent_run_id: Option<String>,
    /// The version that the client speaks; none before 1.0.
    #[serde(default)]
    pub protocol_version: Option<String>,
    /// The messages of the conversation.
    pub messages: Vec<InputMessage>,
    /// The tools of the client.
    #[serde(default)]
    pub tools: Vec<InputTool>,
    /// What the client knows about the moment.
    #[serde(default)]
    pub context: Vec<ContextEntry>,
    /// The state of the client.
    #[serde(default)]
    pub state: Option<Value>,
    /// Values of the application.
    #[serde(default)]
    pub forwarded_props: Option<Value>,
    /// The answers to interrupts.
    #[serde(default)]
    pub resume: Vec<ResumeEntry>,
}

/// A message of an input.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Value")]
#[non_exhaustive]
pub struct InputMessage {
    /// The message as it was sent.
    pub value: Value,
}

impl From<Value> for InputMessage {
    fn from(value: Value) -> Self {
        Self { value }
    }
}

impl InputMessage {
    /// Returns a text member; an empty text if there is none.
    #[must_use]
    pub fn text(&self, member: &str) -> &str {
        self.value[member].as_str().unwrap_or_default()
    }

    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &str {
        self.text("id")
    }

    /// Returns the role.
    #[must_use]
    pub fn role(&self) -> &str {
        self.text("role")
    }

    /// Returns whether it is a message of the protocol: an object with an id and a role.
    #[must_use]
    pub(crate) fn is_valid(&self) -> bool {
        !self.id().is_empty() && !self.role().is_empty()
    }
}

/// A tool of the client.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct InputTool {
    /// The name.
    pub name: String,
    /// The description, which the model reads.
    #[serde(default)]
    pub description: String,
    /// The JSON schema of the arguments.
    #[serde(default)]
    pub parameters: Option<Value>,
}

/// What the client knows about the moment.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ContextEntry {
    /// What it is.
    #[serde(default)]
    pub description: String,
    /// The value.
    pub value: String,
}

/// The answer to an interrupt.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResumeEntry {
    /// The interrupt.
    pub interrupt_id: String,
    /// Whether somebody answered.
    pub status: ResumeStatus,
    /// The answer.
    #[serde(default)]
    pub payload: Option<Value>,
}

/// Whether somebody answered an interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ResumeStatus {
    /// Somebody did.
    Resolved,
    /// Nobody will.
    Cancelled,
}
