//! Compression of conversations to the context window of a model.

use hooks_core::{BoxError, BoxFuture};

use crate::message::{ContentBlock, Messages, Msg};

/// When a conversation is compressed, and how far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContextConfig {
    /// The context window of the model, in tokens. Without it, the agent never compresses by
    /// itself.
    pub window: Option<u64>,
    /// The share of the window at which the conversation is compressed, 0 to 1.
    pub trigger: f64,
    /// The share of the window that a compressor should keep for the latest messages, 0 to 1.
    pub reserve: f64,
}

impl Default for ContextConfig {
    fn default() -> Self {
        Self { window: None, trigger: 0.8, reserve: 0.1 }
    }
}

impl ContextConfig {
    /// Returns whether the messages reach the [`trigger`](Self::trigger) share of the window.
    /// Estimates tokens as four characters each.
    #[must_use]
    pub fn is_due(&self, messages: &Messages) -> bool {
        let Some(window) = self.window else { return false };
        let tokens = messages.iter().map(|msg| characters(msg) / 4).sum::<usize>();
        #[expect(clippy::cast_precision_loss, reason = "a guess is compared with a share")]
        let (tokens, window) = (tokens as f64, window as f64);
        tokens >= window * self.trigger
    }
}

fn characters(msg: &Msg) -> usize {
    let blocks = msg.content.iter().map(|block| match block {
        ContentBlock::Text { text } => text.chars().count(),
        ContentBlock::Thinking { thinking, .. } => thinking.chars().count(),
        ContentBlock::RedactedThinking { data } => data.len(),
        ContentBlock::ToolUse(call) => call.name.len() + call.input.to_string().chars().count(),
        ContentBlock::ToolResult(result) => result.output.chars().count(),
    });
    blocks.sum()
}

/// Compresses a conversation.
///
/// The agent calls it through its method `compress_context`, a hook point, when the
/// [configuration](ContextConfig) requires it. The result replaces the messages in memory and must
/// keep each tool call together with its result.
pub trait CompressContext: Send + Sync {
    /// Returns a shorter conversation with the same content.
    fn compress<'a>(
        &'a self,
        messages: Messages,
        config: &'a ContextConfig,
        instructions: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Messages, BoxError>>;
}
