//! What a command writes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::near_name::misspelt;

/// What a command writes on standard output, as one JSON object. All fields may be absent.
///
/// A known field of a wrong type is an error, as is a field that is there twice. Unknown fields
/// are noted in a debug line of the target `hooks_agent::command`.
///
/// ```
/// use hooks_agent::command::{HookDecision, Output, PermissionDecision, SpecificOutput};
///
/// let output = Output::parse(r#"{"decision": "block", "reason": "no tests", "color": 1}"#)?;
/// assert_eq!(output.decision, Some(HookDecision::Block));
/// assert!(Output::parse(r#"{"reason": 1}"#).is_err());
///
/// let mut specific = SpecificOutput::new("PreToolUse");
/// specific.permission_decision = Some(PermissionDecision::Deny);
/// let mut output = Output::default();
/// output.hook_specific_output = Some(specific);
/// assert_eq!(
///     serde_json::to_string(&output)?,
///     r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}"#,
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[non_exhaustive]
pub struct Output {
    /// `false` ends the call. It beats every decision.
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    pub continues: Option<bool>,
    /// Why the call ends. People see it, the model does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Keeps standard output out of logs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppress_output: Option<bool>,
    /// A warning for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_message: Option<String>,
    /// Blocks the event. At `PreToolUse`, the older way to allow or deny.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<HookDecision>,
    /// Why the event is blocked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What is particular to an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook_specific_output: Option<SpecificOutput>,
}

/// The field `hookSpecificOutput` of [`Output`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SpecificOutput {
    /// The name of the event. It is required, and must be the event that the command received.
    pub hook_event_name: String,
    /// `PreToolUse`: whether the tool may run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_decision: Option<PermissionDecision>,
    /// Why: for the model if it is denied, for people if they are asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_decision_reason: Option<String>,
    /// `PreToolUse`: the whole new arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<Map<String, Value>>,
    /// `PermissionRequest`: the answer in place of the user's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<RequestDecision>,
    /// `PostToolUse`: what the model reads in place of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_tool_output: Option<Value>,
    /// Text for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
}

/// The field `decision` of [`Output`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum HookDecision {
    /// `PreToolUse`: the tool may run. At other events it has no effect.
    Approve,
    /// Blocks the event.
    Block,
}

/// Whether a tool may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum PermissionDecision {
    /// It runs, and the user is not asked. It does not undo a permission that denies.
    Allow,
    /// It does not run.
    Deny,
    /// The call stops until the user confirms the tool call.
    Ask,
    /// The call stops, and the command is run again when the call is resumed.
    Defer,
}

/// The answer to a request for permission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RequestDecision {
    /// Whether the tool may run.
    pub behavior: Behavior,
    /// Why it may not, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The whole new arguments, if it may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<Map<String, Value>>,
}

/// The field `behavior` of [`RequestDecision`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Behavior {
    /// The tool may run.
    Allow,
    /// The tool may not run.
    Deny,
}

/// The error of an output that is no such object. It has no text of the output but the names of fields.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("standard output is no JSON object of this contract, at line {line}, column {column}{}", why(reason.as_deref()))]
#[non_exhaustive]
pub struct OutputError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong with a field, if it is one that is missing or misspelt.
    pub reason: Option<String>,
}

fn why(reason: Option<&str>) -> String {
    reason.map(|reason| format!(": {reason}")).unwrap_or_default()
}

impl Output {
    /// Reads an output.
    ///
    /// # Errors
    /// [`OutputError`] if the text is no JSON object, a known field is of another type, or the name of an
    /// unknown field is near a known one: a decision whose name is misspelt would be none.
    pub fn parse(text: &str) -> Result<Self, OutputError> {
        let place = |error: serde_json::Error| {
            // Other errors may quote a value.
            let text = error.to_string();
            let is_missing = text.starts_with("missing field");
            let reason = text.split(" at line").next().filter(|_| is_missing).map(str::to_owned);
            OutputError { line: error.line().max(1), column: error.column().max(1), reason }
        };
        // An array would be read as the fields in their order.
        let all: Map<String, Value> = serde_json::from_str(text).map_err(place)?;
        check_names(&all)?;
        serde_json::from_str(text).map_err(place)
    }
}

impl SpecificOutput {
    /// Creates the output of this event without further fields.
    #[must_use]
    pub fn new(event: impl Into<String>) -> Self {
        Self { hook_event_name: event.into(), ..Self::default() }
    }
}

impl RequestDecision {
    /// Creates the answer without further fields.
    #[must_use]
    pub fn new(behavior: Behavior) -> Self {
        Self { behavior, message: None, updated_input: None }
    }
}

/// Refuses fields whose names are misspelt, and notes others that no type of the contract has.
fn check_names(output: &Map<String, Value>) -> Result<(), OutputError> {
    const KNOWN: [&str; 7] = [
        "continue",
        "stopReason",
        "suppressOutput",
        "systemMessage",
        "decision",
        "reason",
        "hookSpecificOutput",
    ];
    const SPECIFIC: [&str; 7] = [
        "hookEventName",
        "permissionDecision",
        "permissionDecisionReason",
        "updatedInput",
        "decision",
        "updatedToolOutput",
        "additionalContext",
    ];
    let specific = output.get("hookSpecificOutput").and_then(Value::as_object);
    let of_specific = specific.into_iter().flatten().map(|(field, _)| (field, &SPECIFIC));
    let fields = output.keys().map(|field| (field, &KNOWN)).chain(of_specific);
    for (field, known) in fields.filter(|(field, known)| !known.contains(&field.as_str())) {
        if let Some(meant) = misspelt(field, known.iter().copied()) {
            let reason = Some(format!("unknown field `{field}`, did you mean `{meant}`?"));
            return Err(OutputError { line: 1, column: 1, reason });
        }
        tracing::debug!(target: "hooks_agent::command", field, "a command wrote an unknown field");
    }
    Ok(())
}
