//! Takes threads back to an earlier message.

use std::sync::Arc;

use crate::call::CallContext;
use crate::error::AgentError;
use crate::memory::Memory;
use crate::message::{Messages, unanswered_tool_uses};
use crate::store::{Store, StoreError, ThreadKey};
use crate::thread::durable::Durable;

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
    /// Tool calls up to the message have no result up to it.
    #[error(
        "after this message tool calls of {thread} have no result: {}; rewind it to before them, or to after their results",
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
    /// Takes back the memory of the thread, which nobody else writes.
    pub(crate) async fn apply(self, memory: &Memory) -> Result<u64, RewindError> {
        let Self { thread, store, last } = self;
        let mut rows = store.history(thread).await?;
        rows.retain(|row| row.archived.is_none());
        rows.sort_by_key(|row| (row.place, row.seq));
        let messages = memory.messages();
        let place = rows.iter().position(|row| row.seq == last);
        let Some(place) = place.filter(|_| rows.len() == messages.len()) else {
            return Err(RewindError::NoMessage { thread: thread.clone(), last });
        };
        let kept: Vec<_> = messages.shared().take(place + 1).cloned().collect();
        let kept = Messages::from(kept);
        let ids: Vec<_> = unanswered_tool_uses(&kept).into_iter().map(|call| call.id).collect();
        if !ids.is_empty() {
            return Err(RewindError::Unanswered { thread: thread.clone(), ids });
        }
        let gone = messages.len() - kept.len();
        memory.replace(kept);
        Ok(gone as u64)
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
        let session = self.session(cx, memory.clone(), true).await?;
        let rewound = if memory.running().is_some() {
            Err(RewindError::CutOff { thread: rewind.thread.clone() })
        } else {
            rewind.apply(memory).await
        };
        // Released also where nothing was rewound.
        let closed = session.close().await;
        let gone = rewound?;
        closed?;
        Ok(gone)
    }
}
