//! A call as a stream of its events.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::Stream;
use hooks_core::BoxFuture;

use crate::call::CallContext;
use crate::call::stream::{AgentEvent, EventReceiver, EventSink, event_queue};
use crate::error::AgentError;
use crate::message::Msg;

/// A call as a stream of events. The last item is
/// [`Finished`](crate::stream::AgentEventKind::Finished), or the error of the call.
///
/// The call runs while the stream is polled, and waits until each of its events is read. Dropping
/// the stream cancels the call; [`settled`](crate::agent::Agent::settled) still runs.
///
/// ```
/// use futures::StreamExt;
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("words", |_| "one two three");
/// let agent = ReActAgent::builder("assistant").model(model).build()?;
/// let mut said = Vec::new();
/// let mut events = agent.stream(Msg::user("count"));
/// while let Some(event) = events.next().await {
///     match event?.kind {
///         AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) => said.push(text),
///         AgentEventKind::Finished(reply) => assert_eq!(reply.text(), said.concat()),
///         _ => {}
///     }
/// }
/// assert_eq!(said, ["one ", "two ", "three"]);
/// # Ok::<(), hooks_agent::error::AgentError>(())
/// # }).unwrap();
/// ```
#[must_use = "the call runs while the stream is read"]
pub struct AgentStream<'a> {
    cx: CallContext,
    call: Option<BoxFuture<'a, Result<Msg, AgentError>>>,
    events: EventReceiver,
    failed: Option<AgentError>,
    is_over: bool,
}

impl<'a> AgentStream<'a> {
    pub(crate) fn new(
        start: impl FnOnce(EventSink) -> (CallContext, BoxFuture<'a, Result<Msg, AgentError>>),
    ) -> Self {
        let (sender, events) = event_queue();
        let (cx, call) = start(EventSink::Queue(sender));
        Self { cx, call: Some(call), events, failed: None, is_over: false }
    }

    /// Returns the context of the call.
    #[must_use]
    pub fn context(&self) -> &CallContext {
        &self.cx
    }
}

impl Stream for AgentStream<'_> {
    type Item = Result<AgentEvent, AgentError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if this.is_over {
                return Poll::Ready(None);
            }
            // After the call, only the events left in the queue follow: hooks may still hold a
            // sender.
            let Some(call) = &mut this.call else {
                let event = this.events.try_recv().map(Ok);
                if event.is_none() {
                    this.is_over = true;
                    this.events.close();
                }
                return Poll::Ready(event.or_else(|| this.failed.take().map(Err)));
            };
            if let Poll::Ready(Some(event)) = this.events.poll_recv(cx) {
                return Poll::Ready(Some(Ok(event)));
            }
            match call.as_mut().poll(cx) {
                Poll::Ready(ended) => {
                    this.call = None;
                    this.failed = ended.err();
                }
                Poll::Pending => {
                    return match this.events.poll_recv(cx) {
                        Poll::Ready(Some(event)) => Poll::Ready(Some(Ok(event))),
                        _ => Poll::Pending,
                    };
                }
            }
        }
    }
}

impl fmt::Debug for AgentStream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentStream").field("is_over", &self.is_over).finish_non_exhaustive()
    }
}
