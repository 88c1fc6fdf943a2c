//! The stream of an answer that is recorded.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::{Stream, StreamExt};
use hooks_core::BoxFuture;

use crate::error::AgentError;
use crate::journal::failure::JournalFailed;
use crate::journal::record::ModelRecord;
use crate::journal::{JournalError, JournalScope, StepRecord, Ticket};
use crate::model::{ChatChunk, ChatStream, ModelError};

/// An answer that is recorded while it is read. Its end is passed on when the journal has it.
pub(super) struct Recording {
    scope: Arc<JournalScope>,
    stream: ChatStream,
    record: ModelRecord,
    ticket: Option<Ticket>,
    /// What is kept, and then passed on.
    last: Option<(BoxFuture<'static, Result<(), JournalFailed>>, Item)>,
}

type Item = Result<ChatChunk, ModelError>;

impl Recording {
    pub(super) fn of(
        scope: Arc<JournalScope>,
        stream: ChatStream,
        record: ModelRecord,
        ticket: Ticket,
    ) -> ChatStream {
        Box::pin(Self { scope, stream, record, ticket: Some(ticket), last: None })
    }

    fn end(&mut self, record: Result<StepRecord, JournalError>, item: Item) {
        if let Some(ticket) = self.ticket.take() {
            let scope = self.scope.clone();
            self.last = Some((Box::pin(async move { scope.keep(ticket, record).await }), item));
        }
    }
}

impl Stream for Recording {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Item>> {
        loop {
            let this = &mut *self;
            if let Some((keeping, _)) = &mut this.last {
                let kept = std::task::ready!(keeping.as_mut().poll(cx));
                let item = this.last.take().map(|(_, item)| item);
                return Poll::Ready(match kept {
                    Ok(()) => item,
                    Err(failed) => Some(Err(ModelError::other(&*this.record.name, failed))),
                });
            }
            let item = std::task::ready!(this.stream.poll_next_unpin(cx));
            if this.ticket.is_none() {
                return Poll::Ready(item);
            }
            match item {
                None => return Poll::Ready(None),
                Some(Err(error)) => {
                    let report = AgentError::Model(error.clone()).report();
                    this.end(StepRecord::of_error(&report, None), Err(error));
                }
                Some(Ok(chunk)) => {
                    this.record.add(&chunk);
                    if !matches!(chunk, ChatChunk::End { .. }) {
                        return Poll::Ready(Some(Ok(chunk)));
                    }
                    let usage = match &chunk {
                        ChatChunk::End { finish, usage } if !finish.is_cut() => Some(*usage),
                        _ => None,
                    };
                    let empty = usage.filter(|_| this.record.chunks.len() == 1);
                    let record = if let Some(usage) = empty {
                        // The agent fails an answer without content: the step failed.
                        let error = ModelError::empty(this.record.name.clone(), usage);
                        StepRecord::of_error(&AgentError::Model(error).report(), None)
                    } else {
                        StepRecord::of_model(&this.record)
                    };
                    this.end(record, Ok(chunk));
                }
            }
        }
    }
}
