//! Flags of a call, read without its lock.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// The flags of a call. Each step reads them; few calls set one.
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
    /// Whether answers wait for a verdict.
    pub(super) holds_answers: Mark,
    /// Whether the call does nothing on a thread that has nothing to go on with.
    pub(super) only_unfinished: Mark,
    /// [`NOTHING`], [`PART`] or [`WHOLE`].
    pub(super) unfinished: AtomicU8,
    /// How many tool calls passed their permission check.
    pub(super) tool_calls: AtomicU64,
}

/// No answer is unfinished.
pub(super) const NOTHING: u8 = 0;
/// The state has the part of an unfinished answer.
pub(super) const PART: u8 = 1;
/// Hooks hold the whole of an unfinished answer.
pub(super) const WHOLE: u8 = 2;

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
