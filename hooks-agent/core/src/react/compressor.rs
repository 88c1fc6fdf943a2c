//! Compression of conversations to the context window of a model.

use hooks_core::{BoxError, BoxFuture};

use crate::message::Messages;
use crate::model::TokenCounter;

/// When a conversation is compressed, and how far.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ContextConfig {
    /// The context window of the model, in tokens. `None` is the window that the model
    /// [has](crate::model::ChatModel::context_window); if that is not known either, the agent never
    /// compresses by itself.
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
    /// Creates the configuration for a context window of this many tokens.
    #[must_use]
    pub fn new(window: u64) -> Self {
        Self { window: Some(window), ..Self::default() }
    }

    /// Sets the share of the window at which the conversation is compressed, 0 to 1. The default is
    /// 0.8.
    #[must_use]
    pub const fn trigger(mut self, share: f64) -> Self {
        self.trigger = share;
        self
    }

    /// Sets the share of the window that a compressor should keep for the latest messages, 0 to 1.
    /// The default is 0.1.
    #[must_use]
    pub const fn reserve(mut self, share: f64) -> Self {
        self.reserve = share;
        self
    }

    /// Returns whether the messages reach the [`trigger`](Self::trigger) share of the window.
    /// Counts tokens by [`TokenCounter::approximate`].
    #[must_use]
    pub fn is_due(&self, messages: &Messages) -> bool {
        let Some(window) = self.window else { return false };
        let tokens = TokenCounter::approximate().count(messages);
        #[expect(clippy::cast_precision_loss, reason = "a guess is compared with a share")]
        let (tokens, window) = (tokens as f64, window as f64);
        tokens >= window * self.trigger
    }
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
