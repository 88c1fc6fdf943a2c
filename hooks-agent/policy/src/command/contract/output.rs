//! The output of a command.

use hooks_agent_core::text::misspelt;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::command::contract::fields::{Field, Takes, found, reason_of, wrong_fields};

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
    /// The same as [that of an event](SpecificOutput::permission_decision), where some programs write
    /// it. The stricter of both holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_decision: Option<PermissionDecision>,
    /// Why, of `permission_decision`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_decision_reason: Option<String>,
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
    /// The older name of [`updated_tool_output`](Self::updated_tool_output), which holds if both are
    /// there.
    #[serde(rename = "updatedMCPToolOutput", default, skip_serializing_if = "Option::is_none")]
    pub updated_mcp_tool_output: Option<Value>,
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
#[error("standard output is no answer, at line {line}, column {column}: {reason}")]
#[non_exhaustive]
pub struct OutputError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong: of fields, what was found and what is taken.
    pub reason: String,
}

const SPECIFIC: [Field; 8] = [
    ("hookEventName", Takes::Text),
    ("permissionDecision", PERMISSION),
    ("permissionDecisionReason", Takes::Text),
    ("updatedInput", Takes::AnyObject),
    ("decision", Takes::Object(&REQUEST)),
    ("updatedToolOutput", Takes::Anything),
    ("updatedMCPToolOutput", Takes::Anything),
    ("additionalContext", Takes::Text),
];

const REQUEST: [Field; 3] = [
    ("behavior", Takes::Words(&["allow", "deny"])),
    ("message", Takes::Text),
    ("updatedInput", Takes::AnyObject),
];

const PERMISSION: Takes = Takes::Words(&["allow", "deny", "ask", "defer"]);

const FIELDS: [Field; 9] = [
    ("continue", Takes::Boolean),
    ("stopReason", Takes::Text),
    ("suppressOutput", Takes::Boolean),
    ("systemMessage", Takes::Text),
    ("decision", Takes::Words(&["block", "approve"])),
    ("reason", Takes::Text),
    ("permissionDecision", PERMISSION),
    ("permissionDecisionReason", Takes::Text),
    ("hookSpecificOutput", Takes::Object(&SPECIFIC)),
];

/// Fields that decide, and where they belong: elsewhere they would be none.
const MISPLACED: [(&str, &str); 5] = [
    ("behavior", "in `decision` of `hookSpecificOutput`"),
    ("permission", "in `hookSpecificOutput`, as `permissionDecision`"),
    ("updatedInput", "in `hookSpecificOutput`"),
    ("updatedToolOutput", "in `hookSpecificOutput`"),
    ("updatedMCPToolOutput", "in `hookSpecificOutput`"),
];

impl Output {
    /// Reads an output.
    ///
    /// # Errors
    /// [`OutputError`] if the text is no JSON object, a known field is of another type or in another
    /// place, or the name of an unknown field is near a known one: a decision whose name is misspelt
    /// would be none.
    pub fn parse(text: &str) -> Result<Self, OutputError> {
        let at = |error: &serde_json::Error, reason| {
            let (line, column) = (error.line().max(1), error.column().max(1));
            OutputError { line, column, reason }
        };
        let value: Value =
            serde_json::from_str(text).map_err(|error| at(&error, reason_of(&error)))?;
        // An array would be read as the fields in their order.
        let Value::Object(all) = &value else {
            let reason = format!("expected a JSON object, found {}", found(&value));
            return Err(OutputError { line: 1, column: 1, reason });
        };
        check_names(all)?;
        serde_json::from_str(text).map_err(|error| {
            let wrong = wrong_fields(all, &FIELDS, "");
            let reason = if wrong.is_empty() { reason_of(&error) } else { wrong.join("; ") };
            at(&error, reason)
        })
    }

    /// Returns whether the text begins with what a command says that goes on in the background, as some
    /// agents let it: `{"async": true}`. What it writes later is no answer.
    pub(crate) fn is_of_background(text: &str) -> bool {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        let first = values.next().and_then(Result::ok);
        first.is_some_and(|first| first.get("async") == Some(&Value::Bool(true)))
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

/// Refuses fields whose names are misspelt or that are in another place, and notes others that no type of
/// the contract has.
fn check_names(output: &Map<String, Value>) -> Result<(), OutputError> {
    let specific = output.get("hookSpecificOutput").and_then(Value::as_object);
    let of_specific = specific.into_iter().flatten().map(|(field, _)| (field, &SPECIFIC[..]));
    let fields = output.keys().map(|field| (field, &FIELDS[..])).chain(of_specific);
    for (field, known) in fields {
        let names = known.iter().map(|(name, _)| *name);
        if names.clone().any(|name| name == field) {
            continue;
        }
        let belongs = MISPLACED.iter().find(|(name, _)| name == field);
        let reason = match (misspelt(field, names), belongs) {
            (_, Some((name, place))) => format!("`{name}` belongs {place}"),
            (Some(meant), _) => format!("unknown field `{field}`, did you mean `{meant}`?"),
            (None, None) => {
                tracing::debug!(
                    target: "hooks_agent::command",
                    field, "a command wrote an unknown field"
                );
                continue;
            }
        };
        return Err(OutputError { line: 1, column: 1, reason });
    }
    Ok(())
}
