//! Whether hooks did the same.

use std::collections::BTreeMap;

use serde_json::Value;

/// What a hook did at an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::replay) struct Decided {
    pub(in crate::replay) hook: String,
    pub(in crate::replay) event: String,
    pub(in crate::replay) tool_call: Option<String>,
    pub(in crate::replay) flow: String,
    pub(in crate::replay) changed: Vec<String>,
}

/// Decisions that are not the same, of a hook at an event.
pub(in crate::replay) struct OtherDecision {
    pub(in crate::replay) path: String,
    pub(in crate::replay) recorded: Option<Value>,
    pub(in crate::replay) now: Option<Value>,
}

/// Compares what the hooks of a call did, each with itself.
pub(in crate::replay) fn compare_decisions(
    recorded: &[Decided],
    now: &[Decided],
) -> Vec<OtherDecision> {
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

fn text(decided: &[String]) -> Option<Value> {
    (!decided.is_empty()).then(|| Value::String(decided.join("; ")))
}
