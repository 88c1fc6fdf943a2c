//! The summary that stands for the beginning of a conversation.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::context::auto_context::thread::OfThread;
use crate::context::summary::PREFIX;
use hooks_agent_core::message::{Messages, Msg};

/// A summary of the first messages of a thread, as a value of the thread.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Covered {
    /// How many messages it covers.
    count: usize,
    /// The digest of these messages.
    digest: String,
    summary: String,
}

impl Covered {
    pub(super) fn new(messages: &Messages, count: usize, summary: String) -> Self {
        Self { count, digest: digest(messages, count), summary }
    }

    /// Returns whether it covers the beginning of these messages.
    pub(super) fn is_of(&self, messages: &Messages) -> bool {
        self.count <= messages.len() && self.digest == digest(messages, self.count)
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn summary(&self) -> &str {
        &self.summary
    }

    /// Returns the messages of a request with the summary in place of those that it covers. The first
    /// message of the user stays, and so do messages that hooks added.
    pub(super) fn apply(&self, request: &Messages, thread: &OfThread) -> Messages {
        let all: Vec<Arc<Msg>> = request.clone().into_iter().collect();
        let end = thread.place_behind(self.count);
        let first = thread.first_user_message(request).filter(|first| *first < end);
        let summary = Arc::new(Msg::user(format!("{PREFIX}\n\n{}", self.summary)));
        let first = first.map(|first| all[first].clone()).into_iter().chain([summary]);
        let added = (0..end).filter(|place| !thread.is_own(*place));
        let added = added.map(|place| all[place].clone());
        first.chain(added).chain(all[end..].iter().cloned()).collect()
    }
}

/// Returns the digest of the first messages.
fn digest(messages: &Messages, count: usize) -> String {
    let mut digest = Sha256::new();
    for msg in messages.iter().take(count) {
        // Messages are plain data. One that were none would differ from every other.
        digest.update(serde_json::to_vec(msg).unwrap_or_default());
        digest.update([0]);
    }
    STANDARD.encode(digest.finalize())
}
