//! Counts the tokens of a conversation.

use hooks_agent_core::message::{Messages, Msg};
use hooks_agent_core::model::TokenCounter;

/// The key of the metadata of a summary.
pub(super) const METADATA_KEY: &str = "summarization";

/// Returns the tokens of a conversation: what the provider reported for the last answer, and a count of
/// what follows it. An answer that an earlier summary kept reports the conversation before that summary,
/// so it does not count. Neither does the reply of another agent: it reports a whole call.
pub(super) fn tokens(messages: &Messages, counter: &TokenCounter) -> u64 {
    let summary = messages.iter().rposition(|msg| kept_behind(msg).is_some());
    let begin = match summary {
        Some(place) => place + 1 + kept_behind(&messages[place]).unwrap_or(0),
        None => 0,
    };
    let reported = messages.iter().enumerate().skip(begin).rev().find_map(|(place, msg)| {
        let is_reply = msg.reason.is_some();
        let usage = msg.usage.filter(|usage| usage.input_tokens > 0 && !is_reply)?;
        Some((place, usage.total_tokens()))
    });
    match reported {
        Some((place, tokens)) => tokens + counter.count(messages.iter().skip(place + 1)),
        None => counter.count(messages),
    }
}

/// Returns how many messages a summary kept behind itself, if the message is a summary.
fn kept_behind(msg: &Msg) -> Option<usize> {
    let kept = msg.metadata.get(METADATA_KEY)?.get("kept")?.as_u64()?;
    usize::try_from(kept).ok()
}

/// Returns whether the message is a summary.
pub(super) fn is_summary(msg: &Msg) -> bool {
    kept_behind(msg).is_some()
}
