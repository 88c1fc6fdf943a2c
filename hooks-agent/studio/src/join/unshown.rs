//! The entries of workers without their content, for a studio that shows none.

use hooks_agent_core::store::Decision;
use serde_json::Value;

use crate::approvals::{DecisionRequest, hide};
use crate::entry::{Packed, pack, pack_hidden};
use crate::join::message::Listed;

/// The kinds whose data are names, times and numbers.
const NAMES: [&str; 10] = [
    "started",
    "reasoning_started",
    "summary_started",
    "model_started",
    "model_first",
    "model_finished",
    "permission_remembered",
    "resumed",
    "given_up",
    "settled",
];

/// Packs the data of an entry without its content.
pub(super) fn pack_unshown(kind: &str, data: Packed<'_>, into: &mut Vec<u8>) {
    if NAMES.contains(&kind) || data.is_hidden() {
        into.extend_from_slice(data.bytes());
        return;
    }
    let unshown = match kind {
        "failed" | "model_failed" => data.read_any().map(|data| without(data, &["text"])),
        "hook" => data.read_any().map(without_values),
        _ => None,
    };
    if unshown.is_none_or(|data| pack(&data, into).is_err()) {
        pack_hidden(into);
    }
}

/// Returns a run without its title, and the text of its error.
pub(super) fn unshown_run(run: Value) -> Value {
    let mut run = without(run, &["title"]);
    if let Some(failure) = run.get_mut("failure") {
        *failure = without(failure.take(), &["text"]);
    }
    run
}

/// Returns what waits without arguments and reasons.
pub(super) fn unshown_lists(listed: Listed) -> Listed {
    let Listed { mut waiting, decided, remembered } = listed;
    waiting.retain(Value::is_object);
    waiting.iter_mut().for_each(hide);
    let decided = decided.into_iter().map(|it| without(it, &["reason"])).collect();
    let remembered = remembered.into_iter().map(|it| without(it, &["rule", "arguments"])).collect();
    Listed { waiting, decided, remembered }
}

/// Returns whether a call is denied, which needs no look at its arguments.
pub(crate) fn denies(request: &DecisionRequest) -> bool {
    matches!(request.decision(), Ok(Decision::Reject(_)))
}

fn without(mut data: Value, fields: &[&str]) -> Value {
    if let Some(known) = data.as_object_mut() {
        known.retain(|name, _| !fields.contains(&name.as_str()));
    }
    data
}

/// Returns what a hook did without the values that it changed.
fn without_values(mut hook: Value) -> Value {
    for change in hook["changed"].as_array_mut().into_iter().flatten() {
        // The place may name what was removed.
        *change = without(change.take(), &["before", "after"]);
        change["path"] = "".into();
        change["hidden"] = true.into();
    }
    hook
}
