//! Windsurf, by its documents: the program was not watched.

use hooks_agent_policy::command::Input;
use serde_json::{Value, json};

use crate::decided::Decided;
use crate::dialect::answer::Answer;
use crate::dialect::fields::{Fields, has, input, needed, text};
use crate::dialect::table::Form::{Blocks, Denies};
use crate::dialect::table::{Event, Kind, Table};

const fn tool(name: &'static str) -> Event {
    Event { name, kind: Kind::Tool, takes: &[Denies] }
}

pub(super) const TABLE: Table = Table {
    name: "windsurf",
    agent: "Windsurf",
    version: "its documents alone",
    events: &[
        Event { name: "pre_user_prompt", kind: Kind::Prompt, takes: &[Blocks] },
        tool("pre_run_command"),
        tool("pre_mcp_tool_use"),
        tool("pre_read_code"),
        tool("pre_write_code"),
        Event::noted("post_run_command"),
        Event::noted("post_mcp_tool_use"),
        Event::noted("post_read_code"),
        Event::noted("post_write_code"),
        Event::noted("post_cascade_response"),
        Event::noted("post_cascade_response_with_transcript"),
        Event::noted("post_setup_worktree"),
    ],
    is_of: |fields| has(fields, "agent_action_name"),
    name_of: |fields| Some(fields.get("agent_action_name")?.as_str()?.to_owned()),
    read,
    write,
    refuse: Answer::exit_2,
    repeats_prompts: false,
    read_by: &[],
    gaps: &[
        "a guard that is over time; one that is killed or missing, without the script of `install`",
        "results, questions and other arguments: it takes none of them",
    ],
};

fn read(event: &Event, fields: &Fields) -> Result<Input, String> {
    let mut input = input(event, needed(fields, "trajectory_id")?);
    let Some(Value::Object(told)) = fields.get("tool_info") else {
        return Err("the event has no object `tool_info`".to_owned());
    };
    match event.kind {
        Kind::Prompt => {
            let prompt = text(told, "user_prompt")?;
            input.prompt = Some(prompt.ok_or("the event has no `tool_info.user_prompt`")?);
        }
        Kind::Tool => {
            let (name, arguments) = match event.name {
                "pre_mcp_tool_use" => {
                    let server = needed(told, "mcp_server_name")?;
                    let tool = needed(told, "mcp_tool_name")?;
                    let arguments = told.get("mcp_tool_arguments").filter(|it| it.is_object());
                    let arguments = arguments.cloned().unwrap_or_else(|| json!({}));
                    (format!("mcp__{server}__{tool}"), arguments)
                }
                name => {
                    let name = name.strip_prefix("pre_").unwrap_or(name);
                    (name.to_owned(), Value::Object(told.clone()))
                }
            };
            (input.tool_name, input.tool_input) = (Some(name), Some(arguments));
        }
        _ => {}
    }
    Ok(input)
}

fn write(_: &Event, decided: Decided, _: &Input) -> Answer {
    match decided {
        Decided::Denies(reason) | Decided::Blocks(reason) => Answer::exit_2(&reason),
        // It reads no JSON.
        _ => Answer::default(),
    }
}
