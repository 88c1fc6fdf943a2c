//! Codex.

use hooks_agent_policy::command::Input;
use serde_json::json;

use crate::contract::withheld;
use crate::decided::Decided;
use crate::dialect::answer::Answer;
use crate::dialect::common::{self, block, is_under, permission};
use crate::dialect::fields::{has, text_of};
use crate::dialect::table::Form::{Blocks, Denies, GoesOn, Replaces, Rewrites, Withholds};
use crate::dialect::table::{Event, Kind, Table};

pub(super) const TABLE: Table = Table {
    name: "codex",
    agent: "Codex",
    version: "0.169.0",
    events: &[
        Event { name: "UserPromptSubmit", kind: Kind::Prompt, takes: &[Blocks] },
        Event { name: "PreToolUse", kind: Kind::Tool, takes: &[Rewrites, Denies] },
        Event { name: "PostToolUse", kind: Kind::Result, takes: &[Replaces, Withholds] },
        Event { name: "Stop", kind: Kind::Stop, takes: &[GoesOn] },
        Event::noted("SubagentStop"),
        Event::noted("SubagentStart"),
        Event::noted("SessionStart"),
        Event::noted("SessionEnd"),
        Event::noted("PermissionRequest"),
        Event::noted("PreCompact"),
        Event::noted("PostCompact"),
        Event::noted("PreModelRequest"),
        Event::noted("PostModelRequest"),
        Event::noted("Interrupt"),
    ],
    is_of: |fields| has(fields, "turn_id") || is_under(fields, "/.codex/"),
    name_of: common::name_of,
    read: common::read,
    write,
    refuse: Answer::exit_2,
    repeats_prompts: false,
    read_by: &[],
    gaps: &[
        "a guard that is over time; one that is killed or missing, without the script of `install`",
        "a hook that is not trusted, or whose command line has changed since: it never runs, without a word",
        "what is typed into a shell that is open (`write_stdin`), and what it and commands that still run print, fires no \
         hook: deny the commands that open one",
        "the result of a tool of an MCP server that failed: it fires no hook",
        "a project that is not trusted: its hooks do not run",
        "`features.hooks = false`, and a `hooks.json` that cannot be read",
    ],
};

fn write(event: &Event, decided: Decided, input: &Input) -> Answer {
    match decided {
        Decided::Blocks(reason) | Decided::GoesOn(reason) => block(&reason),
        Decided::Denies(reason) => permission(event, "deny", &reason),
        // Other arguments need an `allow`, which a guard gives where nobody is asked anyway.
        Decided::Rewrites(arguments)
            if input.permission_mode.as_deref() == Some("bypassPermissions") =>
        {
            Answer::json(json!({ "hookSpecificOutput": {
                "hookEventName": event.name,
                "permissionDecision": "allow",
                "updatedInput": arguments,
            } }))
        }
        Decided::Rewrites(_) => permission(
            event,
            "deny",
            "a hook changes the arguments of this call, and Codex takes others only where it asks nobody",
        ),
        // The model reads the reason in place of the result.
        Decided::Replaces(result) => block(&text_of(&result)),
        Decided::Withholds(reason) => block(&withheld(&reason)),
        _ => Answer::nothing(),
    }
}
