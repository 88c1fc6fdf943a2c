//! Claude Code.

use hooks_agent_policy::command::Input;
use serde_json::{Value, json};

use crate::contract::withheld;
use crate::decided::Decided;
use crate::dialect::agents::contract;
use crate::dialect::answer::{Answer, said};
use crate::dialect::common::{self, adds, block, end, is_under, permission};
use crate::dialect::fields::texts_of;
use crate::dialect::table::Form::{
    Adds, Asks, Blocks, Denies, Ends, GoesOn, Replaces, Rewrites, Warns, Withholds,
};
use crate::dialect::table::{Event, Kind, Table};

pub(super) const TABLE: Table = Table {
    name: "claude",
    agent: "Claude Code",
    version: "2.1.330",
    events: &[
        Event { name: "SessionStart", kind: Kind::Start, takes: &[Adds, Warns] },
        Event { name: "UserPromptSubmit", kind: Kind::Prompt, takes: &[Blocks, Ends] },
        // A command of the user, whose text goes to the model.
        Event { name: "UserPromptExpansion", kind: Kind::Prompt, takes: &[Blocks] },
        Event { name: "PreToolUse", kind: Kind::Tool, takes: &[Rewrites, Asks, Denies, Ends] },
        Event { name: "PostToolUse", kind: Kind::Result, takes: &[Replaces, Withholds, Ends] },
        Event { name: "PostToolBatch", kind: Kind::Batch, takes: &[Ends] },
        Event { name: "Stop", kind: Kind::Stop, takes: &[GoesOn, Ends] },
        Event { name: "SubagentStop", kind: Kind::SubagentStop, takes: &[GoesOn, Ends] },
        Event { name: "ConfigChange", kind: Kind::Settings, takes: &[Blocks] },
        // `PreToolUse` decides before it.
        Event::noted("PermissionRequest"),
        // Its result cannot be replaced: `PostToolBatch` decides about it.
        Event::noted("PostToolUseFailure"),
        Event::noted("CwdChanged"),
        Event::noted("DirectoryAdded"),
        Event::noted("Elicitation"),
        Event::noted("ElicitationResult"),
        Event::noted("FileChanged"),
        Event::noted("InstructionsLoaded"),
        Event::noted("MessageDisplay"),
        Event::noted("Notification"),
        Event::noted("PermissionDenied"),
        Event::noted("PostCompact"),
        Event::noted("PostModelSwitch"),
        Event::noted("PreCompact"),
        Event::noted("PreModelSwitch"),
        Event::noted("SessionEnd"),
        Event::noted("Setup"),
        Event::noted("StopFailure"),
        Event::noted("SubagentStart"),
        Event::noted("TaskCompleted"),
        Event::noted("TaskCreated"),
        Event::noted("TeammateIdle"),
        Event::noted("WorktreeCreate"),
        Event::noted("WorktreeRemove"),
    ],
    is_of: |fields| is_under(fields, "/.claude/"),
    name_of: common::name_of,
    read: |event, fields| {
        let mut input = contract::read(event, fields)?;
        if let Some(event) = event.kind.event() {
            event.name().clone_into(&mut input.hook_event_name);
        }
        Ok(input)
    },
    write,
    refuse: Answer::exit_2,
    repeats_prompts: false,
    read_by: &["copilot", "cursor"],
    gaps: &[
        "without `\"onFailure\": \"block\"`: a guard that is over time; without that and the script of `install`: one that is \
         killed or missing",
        "a hook with `\"async\": true`",
        "started with `--bare`, `--restricted`, or a `--setting-sources` that leaves the settings out",
        "`disableAllHooks` in the settings of a project, and a settings file that has an error",
        "a settings file that changes in mid-session, without a hook at `ConfigChange`",
        "a failed tool call whose output the event does not have: `PostToolBatch` ends the run if its text is there",
    ],
};

fn write(event: &Event, decided: Decided, input: &Input) -> Answer {
    match decided {
        // What is printed there is the path of the new folder.
        Decided::Passes if event.name == "WorktreeCreate" => Answer::default(),
        Decided::Passes => Answer::nothing(),
        Decided::Adds(text) => adds(event, &text),
        Decided::Warns(text) => Answer::json(json!({ "systemMessage": text })),
        Decided::Blocks(reason) if event.name == "UserPromptSubmit" => block(&reason),
        Decided::Blocks(reason) => Answer::exit_2(&reason),
        Decided::GoesOn(reason) => block(&reason),
        Decided::Denies(reason) => permission(event, "deny", &reason),
        Decided::Asks(reason) => permission(event, "ask", &reason),
        Decided::Rewrites(arguments) => Answer::json(json!({ "hookSpecificOutput": {
            "hookEventName": event.name, "updatedInput": arguments,
        } })),
        Decided::Replaces(result) => match in_shape(input, &result) {
            Some(result) => Answer::json(replaced(event, &result)),
            None => {
                end("a hook removes something of a result, and this tool takes no other result")
            }
        },
        Decided::Withholds(reason) => {
            let text = withheld(&reason);
            let result = without_text(input, &text);
            let is_taken = result.is_some();
            let mut json = replaced(event, &result.unwrap_or_else(|| text.into()));
            json["decision"] = json!("block");
            json["reason"] = json!(said(&reason));
            if !is_taken {
                // What the run ends before is not read.
                json["continue"] = json!(false);
                json["stopReason"] = json!(said(&reason));
            }
            Answer::json(json)
        }
        // `continue` alone would run the tool first.
        Decided::Ends(reason, _) if event.kind == Kind::Tool => {
            let Answer { json, .. } = permission(event, "deny", &reason);
            let mut json = json.unwrap_or_default();
            json["continue"] = json!(false);
            json["stopReason"] = json!(said(&reason));
            Answer::json(json)
        }
        Decided::Ends(reason, _) if event.kind == Kind::Batch => block(&reason),
        // What the run ends before is not read.
        Decided::Ends(reason, _) => end(&reason),
    }
}

fn replaced(event: &Event, result: &Value) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": event.name, "updatedToolOutput": result } })
}

fn is_mcp(input: &Input) -> bool {
    input.tool_name.as_deref().is_some_and(|name| name.starts_with("mcp__"))
}

/// Returns a changed result as its tool takes it: of MCP as a text, of others in the shape of the result. In another
/// one it would be ignored without a word.
fn in_shape(input: &Input, result: &Value) -> Option<Value> {
    let before = input.tool_response.as_ref()?;
    if is_mcp(input) {
        return Some(texts_of(result).into());
    }
    (before.is_object() && has_shape(result, before)).then(|| result.clone())
}

/// Returns a result that says this alone.
fn without_text(input: &Input, text: &str) -> Option<Value> {
    if is_mcp(input) {
        return Some(text.into());
    }
    let mut result = input.tool_response.clone()?;
    // What else tools return has words in it that are of their shape.
    let is_of_a_shell = result.get("stdout").is_some() && result.get("stderr").is_some();
    if !is_of_a_shell {
        return None;
    }
    for (name, value) in result.as_object_mut()? {
        match value {
            Value::String(said) => {
                *said = if name == "stdout" { text.into() } else { String::new() }
            }
            Value::Array(_) | Value::Object(_) => return None,
            _ => {}
        }
    }
    Some(result)
}

/// Returns whether two results differ in their texts alone.
fn has_shape(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| {
                    other.get(name).is_some_and(|other| has_shape(value, other))
                })
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| has_shape(one, other))
        }
        (Value::String(_), Value::String(_)) => true,
        (one, other) => one == other,
    }
}
