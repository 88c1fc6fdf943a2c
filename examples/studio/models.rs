//! Scripted models that take their time.

use std::time::Duration;

use futures::{StreamExt, stream};
use hooks_agent::message::{Msg, ToolResult, Usage};
use hooks_agent::model::{ChatChunk, ChatStream, ModelError};
use hooks_agent::prelude::*;

/// A model that answers word by word, with a pause after each.
pub(crate) struct Paced {
    pub(crate) inner: ScriptedModel,
    pub(crate) pace: Duration,
}

impl ChatModel for Paced {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn stream(&self, request: ChatRequest) -> ChatStream {
        let pace = self.pace;
        let words = self.inner.stream(request).flat_map(|chunk| stream::iter(words(chunk)));
        Box::pin(words.then(move |chunk| async move {
            tokio::time::sleep(pace).await;
            chunk
        }))
    }
}

/// Thoughts come word by word too.
fn words(chunk: Result<ChatChunk, ModelError>) -> Vec<Result<ChatChunk, ModelError>> {
    match chunk {
        Ok(ChatChunk::Thinking(text)) => {
            let words = text.split_inclusive(' ').map(str::to_owned);
            words.map(|word| Ok(ChatChunk::Thinking(word))).collect()
        }
        chunk => vec![chunk],
    }
}

/// The results since the caller spoke last.
pub(crate) fn results(request: &ChatRequest) -> Vec<&ToolResult> {
    let messages: Vec<_> = request.messages.iter().collect();
    let asked = messages.iter().rposition(|msg| msg.role == Role::User).unwrap_or(0);
    messages[asked..].iter().flat_map(|msg| msg.tool_results()).collect()
}

/// What the caller asked last.
pub(crate) fn question(request: &ChatRequest) -> String {
    let mut of_user = request.messages.iter().rev().filter(|msg| msg.role == Role::User);
    of_user.next().map(Msg::text).unwrap_or_default()
}

/// The first number in a text.
pub(crate) fn number(text: &str) -> u64 {
    let digits = text.split(|it: char| !it.is_ascii_digit()).find(|it| !it.is_empty());
    digits.and_then(|it| it.parse().ok()).unwrap_or_default()
}

/// An answer of thoughts, text and tool calls.
pub(crate) fn answer(
    thoughts: &str,
    text: &str,
    calls: impl IntoIterator<Item = ToolUse>,
) -> ScriptedAnswer {
    let mut content = Vec::new();
    if !thoughts.is_empty() {
        content.push(ContentBlock::thinking(thoughts));
    }
    if !text.is_empty() {
        content.push(ContentBlock::text(text));
    }
    content.extend(calls.into_iter().map(ContentBlock::ToolUse));
    let written = (thoughts.len() + text.len()) / 4 + 20;
    ScriptedAnswer::from(content).costing(Usage::new(640, written.try_into().unwrap_or(0)))
}
