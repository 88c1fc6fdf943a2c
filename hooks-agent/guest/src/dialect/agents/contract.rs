//! Agents that take the contract of commands whole, such as those of this crate.

use hooks_agent_core::event::EventKind;
use hooks_agent_policy::command::{CommandEvent, Input};
use serde_json::{Value, json};

use crate::contract::output;
use crate::decided::Decided;
use crate::dialect::answer::Answer;
use crate::dialect::common;
use crate::dialect::fields::{Fields, has};
use crate::dialect::table::{Event, Form, Kind, Table};

const ALL: &[Form] = &[
    Form::Adds,
    Form::Warns,
    Form::Blocks,
    Form::Denies,
    Form::Asks,
    Form::Rewrites,
    Form::Replaces,
    Form::Withholds,
    Form::GoesOn,
    Form::Ends,
];

const fn event(event: CommandEvent, kind: Kind) -> Event {
    Event { name: event.name(), kind, takes: ALL }
}

const fn own(kind: EventKind, is: Kind) -> Event {
    event(CommandEvent::Own(kind), is)
}

pub(super) const TABLE: Table = Table {
    name: "hooks-agent",
    agent: "agents that take the contract of commands",
    version: "0.1",
    events: &[
        event(CommandEvent::SessionStart, Kind::Start),
        event(CommandEvent::UserPromptSubmit, Kind::Prompt),
        event(CommandEvent::PreToolUse, Kind::Tool),
        event(CommandEvent::PostToolUse, Kind::Result),
        event(CommandEvent::Stop, Kind::Stop),
        event(CommandEvent::SubagentStop, Kind::SubagentStop),
        event(CommandEvent::SubagentStart, Kind::Noted),
        event(CommandEvent::PermissionRequest, Kind::Noted),
        event(CommandEvent::PostToolUseFailure, Kind::Noted),
        event(CommandEvent::PreCompact, Kind::Noted),
        event(CommandEvent::PostCompact, Kind::Noted),
        event(CommandEvent::Notification, Kind::Noted),
        event(CommandEvent::StopFailure, Kind::Noted),
        event(CommandEvent::SessionEnd, Kind::Noted),
        own(EventKind::PreCall, Kind::Prompt),
        own(EventKind::PreActing, Kind::Tool),
        own(EventKind::PostActing, Kind::Result),
        // A guard blocks them, and says where to write it.
        own(EventKind::PreReasoning, Kind::Prompt),
        own(EventKind::PostReasoning, Kind::Prompt),
        own(EventKind::PreSummary, Kind::Prompt),
        own(EventKind::PostSummary, Kind::Prompt),
        own(EventKind::PostCall, Kind::Prompt),
        own(EventKind::ReasoningChunk, Kind::Noted),
        own(EventKind::ActingChunk, Kind::Noted),
        own(EventKind::SummaryChunk, Kind::Noted),
        own(EventKind::Error, Kind::Noted),
        own(EventKind::Settled, Kind::Noted),
    ],
    is_of: |fields| {
        let is_own = |name: String| {
            let event = name.parse::<CommandEvent>();
            matches!(event, Ok(CommandEvent::Own(_)))
        };
        has(fields, "hooks") || common::name_of(fields).is_some_and(is_own)
    },
    name_of: common::name_of,
    read,
    write: |_, decided, input| match decided {
        Decided::Passes => Answer::nothing(),
        decided => Answer::json(json!(output(decided, input))),
    },
    refuse: Answer::exit_2,
    repeats_prompts: false,
    read_by: &[],
    gaps: &[],
};

/// Reads an event by the types of the contract.
pub(super) fn read(event: &Event, fields: &Fields) -> Result<Input, String> {
    let json = serde_json::to_vec(fields).map_err(|error| error.to_string())?;
    let input = Input::parse(&json).map_err(|error| error.reason)?;
    if input.session_id.is_empty() {
        return Err("the event has no `session_id`".to_owned());
    }
    let has_name = input.tool_name.as_deref().is_some_and(|name| !name.is_empty());
    if matches!(event.kind, Kind::Tool | Kind::Result) && !has_name {
        return Err("the event has no `tool_name`".to_owned());
    }
    if event.kind == Kind::Tool && !input.tool_input.as_ref().is_some_and(Value::is_object) {
        return Err("the event has no object `tool_input`".to_owned());
    }
    Ok(input)
}
