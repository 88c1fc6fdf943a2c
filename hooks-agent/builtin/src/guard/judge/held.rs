//! An answer that is held back.

use futures::{StreamExt, stream};
use tokio::task::yield_now;

use hooks_agent_core::error::AgentError;
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ChatChunk, ModelAnswer, ModelError};

/// The most bytes of an answer that are held back.
const LONGEST: usize = 16 << 20;

/// The number of chunks after which the task yields: a model that always has a chunk ready would
/// otherwise never be interrupted.
const CHUNKS_AT_ONCE: usize = 64;

/// An answer that was read to its end, and that nobody has seen.
pub(super) struct Held {
    answer: ModelAnswer,
    chunks: Vec<ChatChunk>,
    /// All of its text.
    pub(super) text: String,
    pub(super) usage: Usage,
    /// It is longer than what is held back; the rest was not read.
    pub(super) is_too_long: bool,
}

impl Held {
    /// Reads an answer to its end. One that breaks off is an error, as nothing of it was judged.
    pub(super) async fn read(answer: ModelAnswer) -> Result<Self, AgentError> {
        let (chunks, text, usage) = (Vec::new(), String::new(), Usage::default());
        let mut held = Self { answer, chunks, text, usage, is_too_long: false };
        let (mut bytes, mut count) = (0_usize, 0_usize);
        while let Some(chunk) = held.answer.next().await {
            let chunk = chunk?;
            count += 1;
            if count.is_multiple_of(CHUNKS_AT_ONCE) {
                yield_now().await;
            }
            bytes = bytes.saturating_add(weight(&chunk));
            if bytes > LONGEST {
                held.is_too_long = true;
                return Ok(held);
            }
            let is_end = match &chunk {
                ChatChunk::Text(text) => {
                    held.text.push_str(text);
                    false
                }
                ChatChunk::End { usage, .. } => {
                    held.usage = *usage;
                    true
                }
                _ => false,
            };
            held.chunks.push(chunk);
            if is_end {
                return Ok(held);
            }
        }
        Err(ModelError::Cut { model: held.answer.model().to_owned() }.into())
    }

    /// Gives the answer on, chunk by chunk as it came.
    pub(super) fn give_on(self) -> ModelAnswer {
        let chunks = self.chunks;
        self.answer.map_stream(|_| Box::pin(stream::iter(chunks.into_iter().map(Ok))))
    }
}

/// Returns how many bytes a chunk takes.
fn weight(chunk: &ChatChunk) -> usize {
    let more = match chunk {
        ChatChunk::Text(text)
        | ChatChunk::Thinking(text)
        | ChatChunk::Signature(text)
        | ChatChunk::RedactedThinking(text) => text.len(),
        ChatChunk::ToolUse(call) => call.name.len() + call.input.to_string().len(),
        _ => 0,
    };
    size_of::<ChatChunk>() + more
}
