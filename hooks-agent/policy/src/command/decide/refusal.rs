//! Refusals in answers that are none.

use serde_json::{Map, Value};

use crate::command::decide::answer::{Answer, Verdict};

/// Returns the refusal of an answer that cannot be read, or that came with another exit code: a command that
/// says no is not taken for one that says nothing because it says something else too.
pub(super) fn refusal_of(stdout: &[u8]) -> Option<Answer> {
    let text = String::from_utf8_lossy(stdout);
    let text = text.trim_start_matches('\u{feff}').trim();
    let Value::Object(all) = serde_json::from_str(text).ok()? else { return None };
    let specific = all.get("hookSpecificOutput").and_then(Value::as_object);
    let ends_call = all.get("continue") == Some(&Value::Bool(false));
    let is_refused = refuses(&all) || specific.is_some_and(refuses);
    let said = |fields: &Map<String, Value>, name: &str| {
        fields.get(name).and_then(Value::as_str).map(str::to_owned)
    };
    let reason = || {
        let of_specific = specific.and_then(|it| said(it, "permissionDecisionReason"));
        said(&all, "reason").or(of_specific).or(said(&all, "permissionDecisionReason"))
    };
    (is_refused || ends_call).then(|| Answer {
        verdict: if is_refused { Verdict::Block } else { Verdict::None },
        reason: reason(),
        ends_call,
        stop_reason: said(&all, "stopReason"),
        ..Answer::default()
    })
}

/// Returns whether a field in which decisions are made says no.
fn refuses(fields: &Map<String, Value>) -> bool {
    let says_no = |value: &Value| matches!(value.as_str(), Some("block" | "deny"));
    let decisions = ["decision", "permission", "permissionDecision"].into_iter();
    decisions
        .filter_map(|name| fields.get(name))
        .any(|decision| says_no(decision) || decision.get("behavior").is_some_and(says_no))
}
