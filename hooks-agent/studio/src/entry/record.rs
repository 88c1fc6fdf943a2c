//! One entry, as it is read.

use hooks_agent_core::call::RunId;
use serde::Serialize;

use crate::entry::head::RunHead;
use crate::entry::packed::Packed;

/// What an entry is, beside its data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Label {
    pub(crate) seq: u64,
    /// The milliseconds since 1970.
    pub(crate) ts: u64,
    pub(crate) kind: &'static str,
}

#[derive(Serialize)]
struct Head<'a> {
    seq: u64,
    ts: u64,
    run: RunId,
    agent: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<RunId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call: Option<&'a str>,
    #[serde(rename = "type")]
    kind: &'a str,
}

impl Label {
    /// The kind of what another hook did.
    pub(crate) const HOOK: &'static str = "hook";

    /// Whether readers get the summary of the run with it.
    pub(crate) fn is_milestone(self) -> bool {
        self.kind != Self::HOOK && !self.kind.ends_with("_chunk")
    }

    /// The name of its server-sent event.
    pub(crate) fn event(self) -> &'static str {
        if self.kind == Self::HOOK { Self::HOOK } else { "event" }
    }

    /// Returns the JSON of the entry with these data.
    pub(crate) fn json(self, of: &RunHead, data: Packed<'_>) -> Vec<u8> {
        let RunHead { run, agent, parent, tool_call, .. } = of;
        let (parent, tool_call) = (*parent, tool_call.as_deref());
        let Self { seq, ts, kind } = self;
        let head = Head { seq, ts, run: *run, agent, parent, tool_call, kind };
        // Numbers and texts can be written.
        let mut json = serde_json::to_vec(&head).unwrap_or_default();
        if !data.is_empty() {
            json.pop();
            json.extend_from_slice(b",\"data\":");
            data.add_json(&mut json);
            json.push(b'}');
        }
        json
    }
}
