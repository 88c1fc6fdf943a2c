//! Cline.

use hooks_agent_policy::command::Input;
use serde_json::{Value, json};

use crate::decided::Decided;
use crate::dialect::answer::{Answer, said};
use crate::dialect::fields::{Fields, has, input, needed, object, text};
use crate::dialect::table::Form::{Denies, Ends, Rewrites};
use crate::dialect::table::{Event, Kind, Table};

pub(super) const TABLE: Table = Table {
    name: "cline",
    agent: "Cline",
    version: "3.0.65",
    events: &[
        Event { name: "PreToolUse", kind: Kind::Tool, takes: &[Rewrites, Denies] },
        Event { name: "PostToolUse", kind: Kind::Result, takes: &[Ends] },
        // Nothing that is answered there has an effect.
        Event::noted("UserPromptSubmit"),
        Event::noted("TaskStart"),
        Event::noted("TaskResume"),
        Event::noted("TaskCancel"),
        Event::noted("TaskComplete"),
        Event::noted("TaskError"),
        Event::noted("PreCompact"),
        Event::noted("SessionShutdown"),
    ],
    is_of: |fields| has(fields, "clineVersion"),
    name_of,
    read,
    write,
    refuse: cancel,
    repeats_prompts: false,
    read_by: &[],
    gaps: &[
        "a guard that is over its 120 seconds; one that is killed or missing, without the script of `install`",
        "prompts: nothing blocks them",
        "a deny ends the run, with exit code 0, and nobody reads why",
        "hooks in the folder of the option `--hooks-dir`, which is not read",
        "limits of a run: they are limits of the whole session, since no prompt of it begins one",
    ],
};

fn name_of(fields: &Fields) -> Option<String> {
    let name = match fields.get("hookName")?.as_str()? {
        "tool_call" => "PreToolUse",
        "tool_result" => "PostToolUse",
        "prompt_submit" => "UserPromptSubmit",
        "agent_start" => "TaskStart",
        "agent_resume" => "TaskResume",
        "agent_abort" => "TaskCancel",
        "agent_end" => "TaskComplete",
        "agent_error" => "TaskError",
        "pre_compact" => "PreCompact",
        "session_shutdown" => "SessionShutdown",
        other => other,
    };
    Some(name.to_owned())
}

fn read(event: &Event, fields: &Fields) -> Result<Input, String> {
    let root = fields.get("sessionContext").and_then(|context| context["rootSessionId"].as_str());
    let session = match root {
        Some(root) if !root.is_empty() => root.to_owned(),
        _ => needed(fields, "taskId")?,
    };
    let mut input = input(event, session);
    if text(fields, "parent_agent_id")?.is_some() {
        input.agent_id = text(fields, "agent_id")?;
    }
    let of_call = |name: &str| match fields.get(name) {
        Some(Value::Object(call)) => Ok(call.clone()),
        _ => Err(format!("the event has no object `{name}`")),
    };
    let call = match event.kind {
        Kind::Tool => of_call("tool_call")?,
        Kind::Result => of_call("tool_result")?,
        _ => return Ok(input),
    };
    input.tool_name = Some(needed(&call, "name")?);
    input.tool_use_id = text(&call, "id")?;
    input.tool_input = Some(object(&call, "input")?);
    if event.kind == Kind::Result {
        let is_there = |name| call.get(name).filter(|value| !value.is_null()).cloned();
        input.tool_response = Some(match (is_there("output"), is_there("error")) {
            (Some(read), None) | (None, Some(read)) => read,
            (Some(output), Some(error)) => json!({ "output": output, "error": error }),
            (None, None) => Value::Null,
        });
    }
    Ok(input)
}

fn write(_: &Event, decided: Decided, _: &Input) -> Answer {
    match decided {
        Decided::Denies(reason) | Decided::Ends(reason, _) => cancel(&reason),
        Decided::Rewrites(arguments) => Answer::json(json!({ "overrideInput": arguments })),
        _ => Answer::nothing(),
    }
}

fn cancel(reason: &str) -> Answer {
    Answer::json(json!({ "cancel": true, "errorMessage": said(reason) }))
}
