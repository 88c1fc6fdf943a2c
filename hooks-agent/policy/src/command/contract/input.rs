//! The input of a command.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Number, Value};

use crate::command::contract::fields::{Field, Takes, found, reason_of, wrong_fields};

/// What a command reads on standard input: one JSON object, then the end of the file.
///
/// Fields that an event does not have are `None` and are not written, except for
/// `transcript_path`, which is written as `null`. Unknown events and unknown fields are kept, so
/// that a program reads the inputs of other agents too.
///
/// ```
/// use hooks_agent::command::Input;
///
/// let text = r#"{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/p","tool_name":"Bash",
///     "tool_input":{"command":"ls"},"effort":{"level":"high"}}"#;
/// let input: Input = serde_json::from_str(text)?;
/// assert_eq!(input.tool_name.as_deref(), Some("Bash"));
/// assert_eq!(input.other["effort"]["level"], "high");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Input {
    /// The name of the event, such as `PreToolUse`.
    pub hook_event_name: String,
    /// The id of the thread.
    pub session_id: String,
    /// The id of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// The file of the conversation. This crate has none.
    pub transcript_path: Option<String>,
    /// The working directory: the directory of the project.
    pub cwd: String,
    /// The mode of permissions of the agent. In this crate it is `plan` for a call that [plans](hooks_agent_core::call::RunMode::Plan), else `default`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// In a sub-agent: the id of its run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// In a sub-agent: its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    /// Events of tools: the name of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Events of tools: the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_input: Option<Value>,
    /// Events of tools: the id of the tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// `PostToolUse`: the result. This crate writes `{"content": "..", "is_error": false}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_response: Option<Value>,
    /// `PostToolUseFailure`: whether the call was interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_interrupt: Option<bool>,
    /// After a tool call: how long it took, in whole milliseconds. A fraction that is read is cut off.
    #[serde(deserialize_with = "whole", skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// `PostToolUseFailure`, `StopFailure`: the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// `UserPromptSubmit`: the text of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// `Stop`, `SubagentStop`: whether a command has already made the model go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_hook_active: Option<bool>,
    /// `Stop`, `SubagentStop`: the text of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_assistant_message: Option<String>,
    /// `SessionStart`: `startup`, or `resume` if the thread has messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// `SessionStart`, `PRE_REASONING`, `POST_REASONING`: the name of the model, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `PreCompact`, `PostCompact`: `auto`, or `manual` if the caller gave instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// `PreCompact`: the instructions of the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_instructions: Option<String>,
    /// `Notification`: the text for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// `Notification`: `permission_prompt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notification_type: Option<String>,
    /// `SessionEnd`: why it ends. In this crate it is `other`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What this crate says beyond the contract of coding agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hooks: Option<HostFields>,
    /// Fields that this type does not name.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The field `hooks` of [`Input`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct HostFields {
    /// The id of the run.
    pub run_id: String,
    /// The id of the run that this one is part of.
    pub parent_run_id: Option<String>,
    /// The name of the agent.
    pub agent_name: String,
    /// The [name](hooks_agent_core::event::EventKind::name) of the event in this crate; the name of the event
    /// of commands, if this crate has none, as for `PreCompact`.
    pub event: String,
    /// The user of the call, if it has one: `id`, `roles` and `attributes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<Value>,
    /// `PRE_REASONING`, `PRE_SUMMARY`: the messages that the model gets, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Value>,
    /// Chunks: the text of the chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk: Option<String>,
    /// `SETTLED`: how the call ended, such as `finished`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
}

/// The error of an input that is no such object. It has no text of the input but the names of fields.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at line {line}, column {column}: {reason}")]
#[non_exhaustive]
pub struct InputError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// Each field that is of another type, with what was found and what is taken.
    pub reason: String,
}

const FIELDS: [Field; 26] = [
    ("hook_event_name", Takes::Text),
    ("session_id", Takes::Text),
    ("prompt_id", Takes::Text),
    ("transcript_path", Takes::Text),
    ("cwd", Takes::Text),
    ("permission_mode", Takes::Text),
    ("agent_id", Takes::Text),
    ("agent_type", Takes::Text),
    ("tool_name", Takes::Text),
    ("tool_input", Takes::Anything),
    ("tool_use_id", Takes::Text),
    ("tool_response", Takes::Anything),
    ("is_interrupt", Takes::Boolean),
    ("duration_ms", Takes::Number),
    ("error", Takes::Text),
    ("prompt", Takes::Text),
    ("stop_hook_active", Takes::Boolean),
    ("last_assistant_message", Takes::Text),
    ("source", Takes::Text),
    ("model", Takes::Text),
    ("trigger", Takes::Text),
    ("custom_instructions", Takes::Text),
    ("message", Takes::Text),
    ("notification_type", Takes::Text),
    ("reason", Takes::Text),
    ("hooks", Takes::AnyObject),
];

impl Input {
    /// Reads an input.
    ///
    /// ```
    /// use hooks_agent::command::Input;
    ///
    /// let error = Input::parse(br#"{"hook_event_name": "Stop", "prompt": 1}"#).unwrap_err();
    /// assert_eq!(error.reason, "`prompt`: expected a text, found a number");
    /// ```
    ///
    /// # Errors
    /// [`InputError`] if the text is no JSON object, or a known field is of another type.
    pub fn parse(json: &[u8]) -> Result<Self, InputError> {
        let at = |error: &serde_json::Error, reason| {
            let (line, column) = (error.line().max(1), error.column().max(1));
            InputError { line, column, reason }
        };
        let value: Value =
            serde_json::from_slice(json).map_err(|error| at(&error, reason_of(&error)))?;
        let Value::Object(fields) = &value else {
            let reason = format!("expected a JSON object, found {}", found(&value));
            return Err(InputError { line: 1, column: 1, reason });
        };
        serde_json::from_slice(json).map_err(|error| {
            let wrong = wrong_fields(fields, &FIELDS, "");
            let reason = if wrong.is_empty() { reason_of(&error) } else { wrong.join("; ") };
            at(&error, reason)
        })
    }

    /// Creates an input of this event without further fields.
    #[must_use]
    pub fn new(event: impl Into<String>) -> Self {
        Self { hook_event_name: event.into(), ..Self::default() }
    }
}

/// Takes a number without its fraction; agents write both.
fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let Some(number) = Option::<Number>::deserialize(deserializer)? else { return Ok(None) };
    let of_fraction = || {
        let time = Duration::try_from_secs_f64(number.as_f64()? / 1000.0).ok()?;
        u64::try_from(time.as_millis()).ok()
    };
    Ok(number.as_u64().or_else(of_fraction))
}
