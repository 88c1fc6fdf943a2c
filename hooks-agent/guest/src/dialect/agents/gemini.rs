//! Gemini CLI.

use hooks_agent_policy::command::Input;
use serde_json::json;

use crate::contract::withheld;
use crate::decided::Decided;
use crate::dialect::answer::{Answer, said};
use crate::dialect::common::{self, adds, end, is_under};
use crate::dialect::fields::{Fields, has, input, needed, object, switch, text, texts_of};
use crate::dialect::table::Form::{
    Adds, Blocks, Denies, Ends, GoesOn, Replaces, Rewrites, Withholds,
};
use crate::dialect::table::{Event, Kind, Table};

pub(super) const TABLE: Table = Table {
    name: "gemini",
    agent: "Gemini CLI",
    version: "0.61.0",
    events: &[
        Event { name: "SessionStart", kind: Kind::Start, takes: &[Adds] },
        Event { name: "BeforeAgent", kind: Kind::Prompt, takes: &[Blocks, Ends] },
        Event { name: "BeforeTool", kind: Kind::Tool, takes: &[Rewrites, Denies, Ends] },
        Event { name: "AfterTool", kind: Kind::Result, takes: &[Replaces, Withholds, Ends] },
        Event { name: "AfterAgent", kind: Kind::Stop, takes: &[GoesOn] },
        Event::noted("BeforeModel"),
        Event::noted("AfterModel"),
        Event::noted("BeforeToolSelection"),
        Event::noted("Notification"),
        Event::noted("PreCompress"),
        Event::noted("SessionEnd"),
    ],
    is_of: |fields| {
        let own = ["BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool", "BeforeModel"];
        let own = own.into_iter().chain(["AfterModel", "BeforeToolSelection", "PreCompress"]);
        let name = common::name_of(fields).unwrap_or_default();
        is_under(fields, "/.gemini/")
            || has(fields, "timestamp") && own.into_iter().any(|own| own == name)
    },
    name_of: common::name_of,
    read,
    write,
    refuse: Answer::exit_2,
    repeats_prompts: false,
    read_by: &[],
    gaps: &[
        "a guard that is over time; one that is killed or missing, without the script of `install`",
        "project settings in a folder that is not trusted, and `--skip-trust`",
        "a question to a person: without a terminal it would never end, so it is a deny",
    ],
};

fn read(event: &Event, fields: &Fields) -> Result<Input, String> {
    let mut input = input(event, needed(fields, "session_id")?);
    input.cwd = text(fields, "cwd")?.unwrap_or_default();
    match event.kind {
        Kind::Start => input.source = text(fields, "source")?,
        Kind::Prompt => {
            input.prompt = Some(text(fields, "prompt")?.ok_or("the event has no `prompt`")?);
        }
        Kind::Tool | Kind::Result => {
            input.tool_name = Some(needed(fields, "tool_name")?);
            input.tool_input = Some(object(fields, "tool_input")?);
            if event.kind == Kind::Result {
                // The model reads no other part of it.
                let response = object(fields, "tool_response")?;
                let is_there = |name| response.get(name).filter(|value| !value.is_null());
                input.tool_response = Some(match (is_there("llmContent"), is_there("error")) {
                    (Some(read), None) | (None, Some(read)) => read.clone(),
                    // Of a call that failed it reads the error, or both.
                    (Some(read), Some(error)) => json!({ "llmContent": read, "error": error }),
                    (None, None) => response,
                });
            }
        }
        Kind::Stop | Kind::SubagentStop => {
            input.stop_hook_active = switch(fields, "stop_hook_active")?;
            input.last_assistant_message = text(fields, "prompt_response")?;
        }
        Kind::Batch | Kind::Settings | Kind::Noted => {}
    }
    Ok(input)
}

fn write(event: &Event, decided: Decided, _: &Input) -> Answer {
    match decided {
        Decided::Adds(text) => adds(event, &text),
        Decided::Blocks(reason) | Decided::Denies(reason) | Decided::GoesOn(reason) => {
            deny(&reason)
        }
        Decided::Rewrites(arguments) => Answer::json(json!({ "hookSpecificOutput": {
            "hookEventName": event.name, "tool_input": arguments,
        } })),
        // The reason of a deny is the new result.
        Decided::Replaces(result) => deny(&texts_of(&result)),
        Decided::Withholds(reason) => deny(&withheld(&reason)),
        Decided::Ends(reason, _) => end(&reason),
        Decided::Passes | Decided::Warns(_) | Decided::Asks(_) => Answer::nothing(),
    }
}

fn deny(reason: &str) -> Answer {
    Answer::json(json!({ "decision": "deny", "reason": said(reason) }))
}
