//! Whether hooks did the same.

use std::collections::BTreeMap;

use hooks_agent_core::hook::HookFlow;
use serde_json::Value;

/// What a hook did at an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decided {
    pub(crate) hook: String,
    pub(crate) event: String,
    pub(crate) tool_call: Option<String>,
    pub(crate) flow: String,
    pub(crate) changed: Vec<String>,
}

impl Decided {
    /// Returns whether a hook around the model or a tool went on after a failure: it tried again.
    pub(crate) fn is_another_try(&self) -> bool {
        let is_around = matches!(self.event.as_str(), "MODEL_CALL" | "TOOL_CALL");
        is_around && self.flow == HookFlow::Recover.as_str()
    }
}

/// Decisions that are not the same, of a hook at an event.
pub(crate) struct OtherDecision {
    pub(crate) path: String,
    pub(crate) recorded: Option<Value>,
    pub(crate) now: Option<Value>,
}

/// Compares what the hooks of a call did, each with itself.
pub(crate) fn compare_decisions(recorded: &[Decided], now: &[Decided]) -> Vec<OtherDecision> {
    let (recorded, mut now) = (by_hook(recorded), by_hook(now));
    let mut found = Vec::new();
    for (place, recorded) in recorded {
        let now = now.remove(&place).unwrap_or_default();
        if recorded != now {
            found.push(OtherDecision { path: place, recorded: text(&recorded), now: text(&now) });
        }
    }
    for (path, decided) in now {
        found.push(OtherDecision { path, recorded: None, now: text(&decided) });
    }
    found
}

fn by_hook(decisions: &[Decided]) -> BTreeMap<String, Vec<String>> {
    let mut by_hook: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for Decided { hook, event, tool_call, flow, changed } in decisions {
        let place = match tool_call {
            Some(call) => format!("{hook} at {event} of {call}"),
            None => format!("{hook} at {event}"),
        };
        let decided = match changed.as_slice() {
            [] => flow.clone(),
            changed => format!("{flow}, changed {}", changed.join(", ")),
        };
        by_hook.entry(place).or_default().push(decided);
    }
    by_hook
}

// Input: continue; continue; refuse
// Output: continue (2 times); refuse
fn text(decided: &[String]) -> Option<Value> {
    let same = decided.chunk_by(|one, other| one == other).map(|same| match same.len() {
        1 => same[0].clone(),
        count => format!("{} ({count} times)", same[0]),
    });
    let text = same.collect::<Vec<_>>().join("; ");
    (!decided.is_empty()).then_some(Value::String(text))
}
