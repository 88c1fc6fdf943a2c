//! The kinds of entries.

use crate::entry::Label;

/// The kinds that hooks write.
const KINDS: [&str; 25] = [
    "started",
    "input",
    "request",
    "reasoning_started",
    "reasoning_chunk",
    "reasoned",
    "summary_started",
    "summary_chunk",
    "summarized",
    "tool_started",
    "tool_chunk",
    "tool_finished",
    "permission_asked",
    "permission_remembered",
    "model_request",
    "model_started",
    "model_first",
    "model_finished",
    "model_failed",
    "finished",
    "failed",
    "resumed",
    "given_up",
    "settled",
    Label::HOOK,
];

/// Returns a kind that is known.
pub(super) fn known(kind: &str) -> Option<&'static str> {
    KINDS.into_iter().find(|known| *known == kind)
}
