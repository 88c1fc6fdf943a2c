//! The JSON of an entry.

use std::sync::Arc;

use hooks_agent_core::call::RunId;
use serde::Serialize;

use crate::ring::{EntryKind, NewEntry, RunHead, Text};

/// An entry without its number.
#[derive(Serialize)]
struct Body<'a, D> {
    ts: u64,
    run: RunId,
    agent: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<RunId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call: Option<&'a str>,
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<D>,
}

/// Writes an entry without its number and its opening brace. `None` if the data cannot be written.
pub(crate) fn body(
    head: &RunHead,
    ts: u64,
    kind: &str,
    data: Option<impl Serialize>,
) -> Option<Arc<str>> {
    let RunHead { run, agent, parent, tool_call, .. } = head;
    let (parent, tool_call) = (*parent, tool_call.as_deref());
    let body = Body { ts, run: *run, agent, parent, tool_call, kind, data };
    let json = serde_json::to_string(&body).ok()?;
    json.get(1..).map(Into::into)
}

/// The same with data that are JSON already.
pub(crate) fn written(head: &RunHead, ts: u64, kind: &str, data: &str) -> Option<Arc<str>> {
    let head = body(head, ts, kind, None::<()>)?;
    Some(format!("{},\"data\":{data}}}", head.strip_suffix('}')?).into())
}

/// Creates the entry of an event.
pub(crate) fn event(text: Text, is_milestone: bool) -> NewEntry {
    NewEntry { kind: EntryKind::Event, is_milestone, text }
}
