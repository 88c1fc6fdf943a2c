//! Keeping a conversation within what a model can read.

use hooks_core::{BoxError, BoxFuture};

use crate::message::{ContentBlock, Messages, Msg};

/// When a conversation is compressed, and how far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContextConfig {
    /// How many tokens the model can read; without it nothing is compressed unasked.
    pub window: Option<u64>,
    /// The share of the window at which the conversation is compressed, 0 to 1.
    pub trigger: f64,
    /// The share of the window that a compressor should leave of the latest messages, 0 to 1.
    pub reserve: f64,
}

impl Default for ContextConfig {
    fn default() -> Self {
        Self { window: None, trigger: 0.8, reserve: 0.1 }
    }
}

impl ContextConfig {
    /// Whether the conversation has come near the end of the window. Tokens are guessed: four
    /// characters each.
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

/// What makes a conversation shorter.
///
/// The agent asks it through its method `compress_context`, which hooks may wrap, when the
/// [configuration](ContextConfig) says that it is time. What it gives is remembered in place of what
/// was; it must keep each tool call and its result together.
pub trait CompressContext: Send + Sync {
    /// A shorter conversation of the same content.
    fn compress<'a>(
        &'a self,
        messages: Messages,
        config: &'a ContextConfig,
        instructions: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Messages, BoxError>>;
}
