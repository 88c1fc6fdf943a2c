//! Cursor, by its documents: the program was not watched.

use hooks_agent_policy::command::Input;
use serde_json::{Value, json};

use crate::decided::Decided;
use crate::dialect::answer::{Answer, said};
use crate::dialect::common;
use crate::dialect::fields::{Fields, has, input, needed, text};
use crate::dialect::table::Form::{Blocks, Denies, GoesOn};
use crate::dialect::table::{Event, Kind, Table};

const fn tool(name: &'static str) -> Event {
    Event { name, kind: Kind::Tool, takes: &[Denies] }
}

pub(super) const TABLE: Table = Table {
    name: "cursor",
    agent: "Cursor",
    version: "its documents alone",
    events: &[
        Event { name: "beforeSubmitPrompt", kind: Kind::Prompt, takes: &[Blocks] },
        tool("preToolUse"),
        tool("beforeShellExecution"),
        tool("beforeMCPExecution"),
        tool("beforeReadFile"),
        tool("beforeTabFileRead"),
        tool("subagentStart"),
        Event { name: "stop", kind: Kind::Stop, takes: &[GoesOn] },
        Event::noted("postToolUse"),
        Event::noted("postToolUseFailure"),
        Event::noted("afterShellExecution"),
        Event::noted("afterMCPExecution"),
        Event::noted("afterFileEdit"),
        Event::noted("afterTabFileEdit"),
        Event::noted("afterAgentResponse"),
        Event::noted("afterAgentThought"),
        Event::noted("preCompact"),
        Event::noted("sessionStart"),
        Event::noted("sessionEnd"),
        Event::noted("subagentStop"),
    ],
    is_of: |fields| has(fields, "conversation_id") && has(fields, "generation_id"),
    name_of: common::name_of,
    read,
    write,
    refuse: |reason| {
        let mut answer = deny(reason);
        (answer.code, answer.error) = (2, Some(said(reason)));
        answer
    },
    repeats_prompts: false,
    read_by: &[],
    gaps: &[
        "without `\"failClosed\": true`: a guard that is over time; without that and the script of `install`: every failure of it",
        "an unknown event in its file of hooks: the whole file is void",
        "results: they are not withheld",
    ],
};

fn read(event: &Event, fields: &Fields) -> Result<Input, String> {
    let mut input = input(event, needed(fields, "conversation_id")?);
    input.prompt_id = text(fields, "generation_id")?;
    match event.kind {
        Kind::Prompt => {
            input.prompt = Some(text(fields, "prompt")?.ok_or("the event has no `prompt`")?);
        }
        Kind::Tool => {
            let (name, arguments) = call_of(event, fields)?;
            (input.tool_name, input.tool_input) = (Some(name), Some(arguments));
            input.tool_use_id = text(fields, "tool_use_id")?;
        }
        _ => {}
    }
    Ok(input)
}

/// Returns the tool call that an event is about.
fn call_of(event: &Event, fields: &Fields) -> Result<(String, Value), String> {
    let of_path = |fields: &Fields| Ok(json!({ "file_path": needed(fields, "file_path")? }));
    Ok(match event.name {
        "beforeShellExecution" => {
            ("Shell".to_owned(), json!({ "command": needed(fields, "command")? }))
        }
        "beforeReadFile" | "beforeTabFileRead" => {
            ("Read".to_owned(), of_path(fields).map_err(|error: String| error)?)
        }
        "subagentStart" => ("Task".to_owned(), Value::Object(fields.clone())),
        _ => {
            let arguments = match fields.get("tool_input") {
                Some(Value::Object(arguments)) => Value::Object(arguments.clone()),
                // Of MCP it is JSON in a text.
                Some(Value::String(text)) => serde_json::from_str(text)
                    .ok()
                    .filter(Value::is_object)
                    .ok_or("`tool_input` of the event is no object")?,
                _ => return Err("the event has no object `tool_input`".to_owned()),
            };
            (needed(fields, "tool_name")?, arguments)
        }
    })
}

fn write(event: &Event, decided: Decided, _: &Input) -> Answer {
    match decided {
        Decided::Denies(reason) => deny(&reason),
        Decided::Blocks(reason) => {
            Answer::json(json!({ "continue": false, "user_message": said(&reason) }))
        }
        Decided::GoesOn(text) => Answer::json(json!({ "followup_message": text })),
        // With `failClosed` an answer that does not allow is a failure.
        _ if event.kind == Kind::Tool => Answer::json(json!({ "permission": "allow" })),
        _ if event.kind == Kind::Prompt => Answer::json(json!({ "continue": true })),
        _ => Answer::nothing(),
    }
}

fn deny(reason: &str) -> Answer {
    let reason = said(reason);
    Answer::json(json!({
        "permission": "deny", "user_message": &reason, "agent_message": &reason,
    }))
}
