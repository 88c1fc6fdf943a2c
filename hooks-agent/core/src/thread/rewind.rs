//! Takes threads back to an earlier message.

use std::sync::Arc;

use crate::call::CallContext;
use crate::error::AgentError;
use crate::memory::{Memory, Rewound};
use crate::message::{Messages, Msg, unanswered_tool_uses};
use crate::store::{Store, StoreError, ThreadKey};
use crate::thread::durable::{Durable, in_time};

/// The error of a [rewind](crate::react::ReActAgent::rewind). The thread stays as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewindError {
    /// A call on the thread was cut off, and has not been resumed.
    #[error("a call on {thread} was cut off: resume it, then rewind the thread")]
    CutOff {
        /// The thread.
        thread: ThreadKey,
    },
    /// The conversation has no such message, or it was replaced.
    #[error(
        "the conversation of {thread} has no message {last}: expected the number of a message that was not replaced"
    )]
    NoMessage {
        /// The thread.
        thread: ThreadKey,
        /// The number.
        last: u64,
    },
    /// Tool calls that stay would lack their results.
    #[error(
        "tool calls of {thread} would be left without a result: {}; rewind to before them, or to after their results",
        .ids.join(", ")
    )]
    Unanswered {
        /// The thread.
        thread: ThreadKey,
        /// The ids of the tool calls.
        ids: Vec<String>,
    },
    /// There is no such thread, it is another user's, it was busy for too long, or the store failed.
    #[error(transparent)]
    Call(#[from] AgentError),
}

impl From<StoreError> for RewindError {
    fn from(error: StoreError) -> Self {
        Self::Call(error.into())
    }
}

/// What is rewound, and to which message.
#[derive(Clone, Copy)]
pub(crate) struct Rewind<'a> {
    pub(crate) thread: &'a ThreadKey,
    pub(crate) store: &'a dyn Store,
    /// The number of the last message that stays.
    pub(crate) last: u64,
}

impl Rewind<'_> {
    /// Takes back the memory of the thread, in which nobody else answers or replaces.
    pub(crate) async fn apply(self, memory: &Memory) -> Result<Option<Rewound>, RewindError> {
        let Self { thread, store, last } = self;
        let messages = memory.messages();
        let mut rows = store.history(thread).await?;
        rows.retain(|row| row.archived.is_none());
        rows.sort_by_key(|row| (row.place, row.seq));
        let no_message = || RewindError::NoMessage { thread: thread.clone(), last };
        let place = rows.iter().position(|row| row.seq == last).ok_or_else(no_message)?;
        // Memory may have changes that the store does not have yet.
        let stored = rows[place].read(thread)?;
        if messages.get(place).is_none_or(|msg| !is_same(msg, &stored)) {
            return Err(no_message());
        }
        let kept: Vec<_> = messages.shared().take(place + 1).cloned().collect();
        let open = unanswered_tool_uses(&Messages::from(kept));
        if !open.is_empty() {
            let ids = open.into_iter().map(|call| call.id).collect();
            return Err(RewindError::Unanswered { thread: thread.clone(), ids });
        }
        if place + 1 == messages.len() {
            return Ok(None);
        }
        memory.rewind(&messages, place + 1).map(Some).ok_or_else(no_message)
    }
}

/// Returns whether a message is the stored one: of what it says, memory may have more than the store.
fn is_same(msg: &Msg, stored: &Msg) -> bool {
    let ids = |msg: &Msg| -> Vec<String> {
        let results = msg.tool_results().map(|result| result.id.clone());
        msg.tool_uses().map(|call| call.id.clone()).chain(results).collect()
    };
    msg.role == stored.role && ids(msg) == ids(stored)
}

/// A rewind in memory, which is undone if it is not written.
struct Unwritten<'a> {
    memory: &'a Memory,
    rewound: Option<Rewound>,
}

impl Unwritten<'_> {
    /// Keeps it. Returns how many messages are gone.
    fn keep(mut self) -> u64 {
        self.rewound.take().map_or(0, |rewound| rewound.count() as u64)
    }
}

impl Drop for Unwritten<'_> {
    fn drop(&mut self) {
        if let Some(rewound) = self.rewound.take() {
            self.memory.undo(rewound);
        }
    }
}

impl Durable {
    /// Takes a thread back to a message, when no call owns it.
    pub(crate) async fn rewind(
        &self,
        cx: &CallContext,
        memory: &Arc<Memory>,
        rewind: Rewind<'_>,
    ) -> Result<u64, RewindError> {
        let session = in_time(cx, self.session(cx, memory.clone(), true)).await?;
        let rewound = if memory.running().is_some() {
            Err(RewindError::CutOff { thread: rewind.thread.clone() })
        } else {
            rewind.apply(memory).await
        };
        // Undone before the lease is released, if this is dropped.
        let unwritten = Unwritten { memory, rewound: rewound? };
        session.close().await?;
        Ok(unwritten.keep())
    }
}
