//! opencode, by the plug-in that `hooks-agent install` writes: it passes events on, and throws a deny.

use hooks_agent_policy::command::Input;
use serde_json::{Map, Value, json};

use crate::contract::withheld;
use crate::decided::Decided;
use crate::dialect::answer::{Answer, said};
use crate::dialect::fields::{Fields, has, input, needed, object, text};
use crate::dialect::table::Form::{Blocks, Denies, Replaces, Rewrites, Withholds};
use crate::dialect::table::{Event, Kind, Table};

pub(super) const TABLE: Table = Table {
    name: "opencode",
    agent: "opencode",
    version: "1.18.33",
    events: &[
        Event { name: "chat.message", kind: Kind::Prompt, takes: &[Blocks] },
        Event { name: "tool.execute.before", kind: Kind::Tool, takes: &[Rewrites, Denies] },
        Event { name: "tool.execute.after", kind: Kind::Result, takes: &[Replaces, Withholds] },
    ],
    is_of: |fields| has(fields, "hook") && has(fields, "input") && has(fields, "output"),
    name_of: |fields| Some(fields.get("hook")?.as_str()?.to_owned()),
    read,
    write,
    refuse: deny,
    repeats_prompts: false,
    read_by: &[],
    gaps: &[
        "a plug-in that does not load: it is not said, and nothing is guarded",
        "started with `--pure` or `OPENCODE_PURE=1`",
        "shell in the templates of commands, and files that are attached to a prompt",
        "the result of a tool call that failed",
        "a tool's `metadata`, which people see and the model does not",
        "limits over a sub-agent that goes on after opencode was started again: it counts alone",
    ],
};

fn read(event: &Event, fields: &Fields) -> Result<Input, String> {
    let of = |name: &str| match fields.get(name) {
        Some(Value::Object(fields)) => Ok(fields.clone()),
        _ => Err(format!("the event has no object `{name}`")),
    };
    let (told, output) = (of("input")?, of("output")?);
    let session = needed(&told, "sessionID")?;
    let mut input = input(event, session);
    // The plug-in says whose session began it.
    if let Some(parent) = text(fields, "parent")? {
        input.agent_id = Some(input.session_id.clone());
        input.other.insert(crate::dialect::PARENT.to_owned(), parent.into());
    }
    match event.kind {
        Kind::Prompt => input.prompt = Some(prompt_of(&output)?),
        Kind::Tool => {
            input.tool_name = Some(needed(&told, "tool")?);
            input.tool_use_id = text(&told, "callID")?;
            input.tool_input = Some(object(&output, "args")?);
        }
        Kind::Result => {
            input.tool_name = Some(needed(&told, "tool")?);
            input.tool_use_id = text(&told, "callID")?;
            input.tool_input = Some(object(&told, "args")?);
            // Of MCP it is parts.
            let read = output.get("output").or_else(|| output.get("content"));
            input.tool_response = Some(read.cloned().ok_or("the event has no `output`")?);
        }
        _ => {}
    }
    Ok(input)
}

/// Returns the text of the parts of a prompt.
fn prompt_of(output: &Map<String, Value>) -> Result<String, String> {
    let Some(Value::Array(parts)) = output.get("parts") else {
        return Err("the event has no `parts`".to_owned());
    };
    let texts = parts.iter().filter(|part| part["type"] == "text");
    let texts: Option<Vec<_>> = texts.map(|part| part["text"].as_str()).collect();
    Ok(texts.ok_or("a part of the prompt has no text")?.join("\n"))
}

fn write(_: &Event, decided: Decided, _: &Input) -> Answer {
    match decided {
        Decided::Blocks(reason) | Decided::Denies(reason) => deny(&reason),
        Decided::Rewrites(arguments) => Answer::json(json!({ "args": arguments })),
        Decided::Replaces(result) => Answer::json(json!({ "result": result })),
        // Thrown, so that nothing beside the text is read either, such as a picture.
        Decided::Withholds(reason) => deny(&withheld(&reason)),
        _ => Answer::nothing(),
    }
}

fn deny(reason: &str) -> Answer {
    Answer::json(json!({ "deny": said(reason) }))
}
