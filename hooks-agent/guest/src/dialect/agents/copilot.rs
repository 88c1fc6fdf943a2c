//! Copilot CLI: its own events in camel case, and those of Claude Code, which it also writes.

use hooks_agent_policy::command::Input;
use serde_json::{Value, json};

use crate::contract::withheld;
use crate::decided::Decided;
use crate::dialect::answer::{Answer, said};
use crate::dialect::common::{self, block, is_under};
use crate::dialect::fields::{Fields, has, input, needed, object, switch, text, text_of};
use crate::dialect::table::Form::{Asks, Blocks, Denies, GoesOn, Replaces, Rewrites, Withholds};
use crate::dialect::table::{Event, Kind, Table};

pub(super) const TABLE: Table = Table {
    name: "copilot",
    agent: "Copilot CLI",
    version: "1.0.102",
    events: &[
        Event { name: "userPromptSubmitted", kind: Kind::Prompt, takes: &[Blocks] },
        Event { name: "preToolUse", kind: Kind::Tool, takes: &[Rewrites, Asks, Denies] },
        Event { name: "postToolUse", kind: Kind::Result, takes: &[Replaces, Withholds] },
        Event { name: "agentStop", kind: Kind::Stop, takes: &[GoesOn] },
        Event { name: "UserPromptSubmit", kind: Kind::Prompt, takes: &[Blocks] },
        Event { name: "PreToolUse", kind: Kind::Tool, takes: &[Rewrites, Denies] },
        Event { name: "PostToolUse", kind: Kind::Result, takes: &[Replaces, Withholds] },
        Event { name: "Stop", kind: Kind::Stop, takes: &[] },
        Event::noted("errorOccurred"),
        Event::noted("notification"),
        Event::noted("permissionRequest"),
        Event::noted("postToolUseFailure"),
        Event::noted("preCompact"),
        Event::noted("preMcpToolCall"),
        Event::noted("sessionEnd"),
        Event::noted("sessionStart"),
        Event::noted("subagentStart"),
        Event::noted("subagentStop"),
        Event::noted("userPromptTransformed"),
        Event::noted("ErrorOccurred"),
        Event::noted("Notification"),
        Event::noted("PermissionRequest"),
        Event::noted("PostToolUseFailure"),
        Event::noted("PreCompact"),
        Event::noted("SessionEnd"),
        Event::noted("SessionStart"),
        Event::noted("SubagentStart"),
        Event::noted("SubagentStop"),
    ],
    is_of: |fields| {
        let is_of_claude_code = has(fields, "hook_event_name")
            && has(fields, "timestamp")
            && (!has(fields, "transcript_path") || is_under(fields, "/.copilot/"));
        has(fields, "sessionId") && !has(fields, "clineVersion") || is_of_claude_code
    },
    name_of,
    read,
    write,
    refuse: Answer::exit_2,
    repeats_prompts: false,
    read_by: &[],
    gaps: &[
        "a guard that is over time, or whose children keep its pipes",
        "`timeoutSec: 0`, a file of hooks that cannot be read, `disableAllHooks` in it",
        "the matchers `*` and `Bash` and an empty one, at events in camel case: the hook never runs",
        "`http://` on loopback, without `COPILOT_HOOK_ALLOW_LOCALHOST=1`",
        "the result of a tool call that failed",
        "hooks of a project in a folder that is not trusted: they do not run",
    ],
};

/// Returns the name of an event. Those in camel case do not say it, but tell by their fields.
fn name_of(fields: &Fields) -> Option<String> {
    if let Some(name) = common::name_of(fields) {
        return Some(name);
    }
    if let Some(Value::String(name)) = fields.get("hookName") {
        return Some(name.clone());
    }
    let name = match () {
        () if has(fields, "toolResult") => "postToolUse",
        () if has(fields, "toolArgs") && has(fields, "error") => "postToolUseFailure",
        () if has(fields, "toolArgs") => "preToolUse",
        () if has(fields, "agentId") => return None,
        () if has(fields, "stopReason") => "agentStop",
        () if has(fields, "prompt") => "userPromptSubmitted",
        () => return None,
    };
    Some(name.to_owned())
}

fn is_camel_case(event: &Event) -> bool {
    event.name.starts_with(|first: char| first.is_ascii_lowercase())
}

fn read(event: &Event, fields: &Fields) -> Result<Input, String> {
    let of = |camel: &'static str, snake: &'static str| {
        if is_camel_case(event) { camel } else { snake }
    };
    let session = needed(fields, of("sessionId", "session_id"))?;
    let mut input = input(event, session);
    input.cwd = text(fields, "cwd")?.unwrap_or_default();
    input.agent_id = text(fields, of("agentId", "agent_id"))?;
    input.agent_type = text(fields, of("agentType", "agent_type"))?;
    // A sub-agent has a session of its own: its caller's counts.
    let parent = text(fields, of("parentAgentId", "parent_agent_id"))?;
    if let Some(parent) = parent.filter(|parent| !parent.is_empty()) {
        input.other.insert(crate::dialect::PARENT.to_owned(), parent.into());
    }
    match event.kind {
        Kind::Prompt => {
            input.prompt = Some(text(fields, "prompt")?.ok_or("the event has no `prompt`")?);
        }
        Kind::Tool | Kind::Result => {
            input.tool_name = Some(needed(fields, of("toolName", "tool_name"))?);
            input.tool_input = Some(object(fields, of("toolArgs", "tool_input"))?);
            if event.kind == Kind::Result {
                let result = object(fields, of("toolResult", "tool_result"))?;
                let read = result.get(of("textResultForLlm", "text_result_for_llm"));
                input.tool_response = Some(read.cloned().unwrap_or(result));
            }
        }
        Kind::Stop => input.stop_hook_active = switch(fields, "stop_hook_active")?,
        _ => {}
    }
    Ok(input)
}

fn write(event: &Event, decided: Decided, _: &Input) -> Answer {
    match decided {
        Decided::Blocks(reason) | Decided::GoesOn(reason) => block(&reason),
        Decided::Denies(reason) => permission("deny", &reason),
        Decided::Asks(reason) => permission("ask", &reason),
        Decided::Rewrites(arguments) if is_camel_case(event) => {
            Answer::json(json!({ "modifiedArgs": arguments }))
        }
        Decided::Rewrites(arguments) => Answer::json(json!({ "hookSpecificOutput": {
            "hookEventName": event.name, "updatedInput": arguments,
        } })),
        Decided::Replaces(result) => block(&text_of(&result)),
        Decided::Withholds(reason) => block(&withheld(&reason)),
        _ => Answer::nothing(),
    }
}

fn permission(decision: &str, reason: &str) -> Answer {
    Answer::json(json!({
        "permissionDecision": decision, "permissionDecisionReason": said(reason),
    }))
}
