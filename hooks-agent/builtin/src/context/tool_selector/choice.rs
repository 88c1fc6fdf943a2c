//! The tools that were chosen, and what for.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use hooks_agent_core::event::PreReasoning;
use hooks_agent_core::message::{Messages, Msg, Role};

/// A choice of tools, as a value of the thread.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Choice {
    /// The digest of the settings and of the tools of the agent.
    pub(super) of: String,
    /// The digest of the text that it was made for.
    query: String,
    pub(super) tools: Vec<String>,
}

impl Choice {
    pub(super) fn new(of: String, query: &str, tools: Vec<String>) -> Self {
        Self { of, query: digest([query]), tools }
    }

    /// Returns whether the choice was made for this text.
    pub(super) fn is_for(&self, query: &str) -> bool {
        self.query == digest([query])
    }
}

/// What the hook knows of a call.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) choice: Option<Choice>,
    /// The tools that the model called.
    pub(super) called: BTreeSet<String>,
}

/// Returns the place of the message of the user that the next answer is for, if it is new: no answer follows.
pub(super) fn question(history: &Messages) -> Option<usize> {
    let last = history.len().checked_sub(1)?;
    (history[last].role == Role::User).then_some(last)
}

/// Returns the place of the last message of the user.
pub(super) fn last_question(history: &Messages) -> Option<usize> {
    history.iter().rposition(|msg| msg.role == Role::User)
}

/// Returns the text of the message at this place, as hooks that ran before changed it for the model.
pub(super) fn text(event: &PreReasoning<'_>, history: &Messages, place: usize) -> String {
    let sent = event.messages();
    let place = if sent.len() == history.len() { Some(place) } else { last_question(sent) };
    place.and_then(|place| sent.get(place)).map(Msg::text).unwrap_or_default()
}

/// Returns the tools of the rounds that are not over: those that were called since the user wrote, unless an
/// answer ended them.
pub(super) fn open_calls(history: &Messages) -> BTreeSet<String> {
    let mut before = history.iter().rev().skip_while(|msg| msg.role == Role::User).peekable();
    let is_over = before
        .peek()
        .is_some_and(|msg| msg.role == Role::Assistant && msg.tool_uses().next().is_none());
    let rounds = before.take_while(|msg| msg.role != Role::User && !is_over);
    rounds.flat_map(Msg::tool_uses).map(|call| call.name.clone()).collect()
}

/// Returns the tools that the last answer calls.
pub(super) fn last_calls(history: &Messages) -> impl Iterator<Item = String> {
    let last = history.iter().rfind(|msg| msg.role == Role::Assistant);
    last.into_iter().flat_map(Msg::tool_uses).map(|call| call.name.clone())
}

/// Returns the digest of texts.
pub(super) fn digest<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut digest = Sha256::new();
    for text in texts {
        digest.update(text.len().to_le_bytes());
        digest.update(text);
    }
    STANDARD.encode(digest.finalize())
}
