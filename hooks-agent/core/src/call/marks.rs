//! What is true of a call, known without its lock.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// What is true of a call. Most calls have little of it, and each step asks.
#[derive(Default)]
pub(super) struct Marks {
    /// Whether error hooks received the error of the call where it happened.
    pub(super) is_told: Mark,
    /// Whether the call ended between two steps, because its agent shuts down.
    pub(super) is_shut_down: Mark,
    /// Whether hooks review replies, so that nobody else sees one before them.
    pub(super) has_reviewers: Mark,
    /// Whether the state has a system message.
    pub(super) has_system: Mark,
    /// Whether the state has what the call resumes.
    pub(super) is_resuming: Mark,
    /// Whether the state has tool calls that the call leaves waiting.
    pub(super) is_waiting: Mark,
    /// Of an [`Unfinished`](super::Unfinished) answer: 0 nothing, 1 its part in the state, 2 the whole.
    pub(super) unfinished: AtomicU8,
    /// How many tool calls passed their permission check.
    pub(super) tool_calls: AtomicU64,
}

/// A flag. It is set after what it says is written, and read before that is read.
#[derive(Default)]
pub(super) struct Mark(AtomicBool);

impl Mark {
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    pub(super) fn set(&self, is_set: bool) {
        self.0.store(is_set, Ordering::Release);
    }
}
