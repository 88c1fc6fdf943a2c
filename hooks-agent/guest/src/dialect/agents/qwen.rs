//! Qwen Code.

use hooks_agent_policy::command::Input;

use crate::contract::withheld;
use crate::decided::Decided;
use crate::dialect::answer::Answer;
use crate::dialect::common::{self, block, end, is_under, permission};
use crate::dialect::fields::{Fields, text_of};
use crate::dialect::table::Form::{Asks, Blocks, Denies, Replaces, Withholds};
use crate::dialect::table::{Event, Kind, Table};

pub(super) const TABLE: Table = Table {
    name: "qwen",
    agent: "Qwen Code",
    version: "0.15.10",
    events: &[
        Event { name: "UserPromptSubmit", kind: Kind::Prompt, takes: &[Blocks] },
        Event { name: "PreToolUse", kind: Kind::Tool, takes: &[Asks, Denies] },
        Event { name: "PostToolUse", kind: Kind::Result, takes: &[Replaces, Withholds] },
        Event { name: "Stop", kind: Kind::Stop, takes: &[] },
        Event::noted("SubagentStart"),
        Event::noted("SubagentStop"),
        Event::noted("PostToolUseFailure"),
        Event::noted("PermissionRequest"),
        Event::noted("PreCompact"),
        Event::noted("Notification"),
        Event::noted("SessionStart"),
        Event::noted("SessionEnd"),
    ],
    is_of: |fields| is_under(fields, "/.qwen/"),
    name_of: common::name_of,
    read,
    write,
    refuse: Answer::exit_2,
    repeats_prompts: true,
    read_by: &[],
    gaps: &[
        "a guard that is over time; one that is killed or missing, without the script of `install`",
        "the result of a tool call that failed",
    ],
};

fn read(event: &Event, fields: &Fields) -> Result<Input, String> {
    let mut input = common::read(event, fields)?;
    if let Some(read) = input.tool_response.as_ref().and_then(|response| response.get("llmContent"))
    {
        input.tool_response = Some(read.clone());
    }
    Ok(input)
}

fn write(event: &Event, decided: Decided, _: &Input) -> Answer {
    match decided {
        Decided::Blocks(reason) => block(&reason),
        Decided::Denies(reason) => permission(event, "deny", &reason),
        Decided::Asks(reason) => permission(event, "ask", &reason),
        // The model reads the reason in place of the result. `updatedToolOutput` and `block` have no effect.
        Decided::Replaces(result) => end(&text_of(&result)),
        Decided::Withholds(reason) => end(&withheld(&reason)),
        _ => Answer::nothing(),
    }
}
