//! A model that says the same in each answer, and what may happen in between.

use std::sync::{Arc, Mutex};

use futures::{StreamExt, stream};
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ChatChunk, ChatModel, ChatRequest, ChatStream};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;

#[derive(Clone)]
pub(crate) struct Spoken {
    chunks: Vec<ChatChunk>,
    stop: usize,
    /// The call of the answer.
    call: Arc<Mutex<Option<CallContext>>>,
}

impl Spoken {
    pub(crate) fn new(chunks: Vec<ChatChunk>) -> Self {
        let chunks = chunks.into_iter().chain([ChatChunk::end(Usage::default())]).collect();
        Self { chunks, stop: usize::MAX, call: Arc::default() }
    }

    /// Interrupts the call before this chunk.
    pub(crate) fn interrupted_before(mut self, chunk: usize) -> Self {
        self.stop = chunk;
        self
    }

    pub(crate) fn given_to(self, agent: ReActAgentBuilder) -> ReActAgentBuilder {
        let call = self.call.clone();
        let note = on(move |event: &mut PreCall<'_>| {
            call.lock().unwrap().get_or_insert_with(|| event.context().clone());
        });
        agent.model(self).hook(note.named("note"))
    }
}

impl ChatModel for Spoken {
    fn name(&self) -> &'static str {
        "spoken"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        let (stop, call) = (self.stop, self.call.clone());
        let chunks = stream::iter(self.chunks.clone()).enumerate();
        Box::pin(chunks.map(move |(index, chunk)| {
            if index == stop
                && let Some(call) = &*call.lock().unwrap()
            {
                call.interrupt();
            }
            Ok(chunk)
        }))
    }
}
