//! An answer that is asked about, and that nobody waits for: verdicts are recorded alone.

use std::sync::Arc;

use futures::{StreamExt, stream};
use hooks_agent_core::call::CallContext;
use hooks_agent_core::model::{ChatChunk, ChatStream, ModelAnswer, ModelError};

use crate::context::response::{Answer, finish_name};
use crate::host::emission::At;
use crate::host::interceptors::Host;
use crate::host::points::answer::{Asked, end_of};
use crate::host::session::Session;

/// An answer whose chunks go on as they come. The interceptors are asked once, about all of it, before its end goes on.
pub(super) struct Observed {
    pub(super) host: Arc<Host>,
    pub(super) session: Arc<Session>,
    pub(super) cx: CallContext,
    pub(super) asked: Asked,
}

impl Observed {
    pub(super) fn watch(self, answer: ModelAnswer) -> ModelAnswer {
        answer.map_stream(|rest| self.over(rest))
    }

    fn over(self, rest: ChatStream) -> ChatStream {
        let start = (Some((self, Answer::default())), rest);
        Box::pin(stream::unfold(start, |(mut open, mut rest)| async move {
            let next = rest.next().await;
            if let Some((observed, read)) = &mut open
                && observed.saw(read, next.as_ref()).await
            {
                open = None;
            }
            Some((next?, (open, rest)))
        }))
    }

    /// Returns whether it was the last one that is asked about.
    async fn saw(&self, read: &mut Answer, next: Option<&Result<ChatChunk, ModelError>>) -> bool {
        let at = At { host: &self.host, session: &self.session, cx: &self.cx };
        match next {
            None => {
                at.broken_off(&self.asked, read);
                true
            }
            // The provider's error: there is no answer to ask about.
            Some(Err(_)) => true,
            Some(Ok(chunk)) => {
                read.add(chunk);
                let Some(finish) = end_of(chunk) else { return false };
                drop(at.response(&self.asked, read, finish_name(finish)).await);
                true
            }
        }
    }
}
