//! The builder of `ContextEditing`: the trigger, and the results that stay.

use crate::context::context_editing::clear::{Clearing, Keep};
use crate::context::context_editing::error::ContextEditingError;
use crate::context::context_editing::hook::{ContextEditing, Settings};
use hooks_agent_core::model::{ContextSize, TokenCounter};

/// Builds a [`ContextEditing`].
#[derive(Clone, Debug)]
#[must_use]
pub struct ContextEditingBuilder {
    settings: Settings,
}

impl ContextEditing {
    /// Starts a hook with the default settings.
    pub fn builder() -> ContextEditingBuilder {
        let clearing = Clearing {
            counter: TokenCounter::approximate(),
            keep: Keep::Results(3),
            at_least: 0,
            clears_inputs: false,
            excluded: Vec::new(),
            placeholder: "[cleared]".to_owned(),
        };
        let settings = Settings { trigger: ContextSize::Tokens(100_000), window: None, clearing };
        ContextEditingBuilder { settings }
    }
}

impl ContextEditingBuilder {
    /// Clears in requests that reach this size: the tokens of the system message, the descriptions of
    /// tools and the messages, or a number of messages. The default is 100,000 tokens.
    pub fn trigger(mut self, size: ContextSize) -> Self {
        self.settings.trigger = size;
        self
    }

    /// Sets the context window in tokens, for a model of the agent that does not know its own.
    pub fn window(mut self, tokens: u64) -> Self {
        self.settings.window = Some(tokens);
        self
    }

    /// Sets how many results stay, counted from the last one; those of excluded tools count. The default
    /// is 3. With 0, the model does not read the results of its latest tool calls either.
    pub fn keep(mut self, results: usize) -> Self {
        self.settings.clearing.keep = Keep::Results(results);
        self
    }

    /// Keeps as many of the last results as have this many tokens together, and at least one.
    pub fn keep_tokens(mut self, tokens: u64) -> Self {
        self.settings.clearing.keep = Keep::Tokens(tokens);
        self
    }

    /// Sets how many tokens are enough: the oldest results are cleared until as many are saved. The
    /// default, 0, clears all results that may be cleared.
    pub fn clear_at_least(mut self, tokens: u64) -> Self {
        self.settings.clearing.at_least = tokens;
        self
    }

    /// Sets whether the arguments of a tool call are cleared with its result, to `{}`. The default is
    /// false.
    pub fn clear_tool_inputs(mut self, clear: bool) -> Self {
        self.settings.clearing.clears_inputs = clear;
        self
    }

    /// Never clears results of these tools.
    pub fn exclude_tools(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.settings.clearing.excluded.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets the text of a cleared result. The default is `[cleared]`.
    pub fn placeholder(mut self, text: impl Into<String>) -> Self {
        self.settings.clearing.placeholder = text.into();
        self
    }

    /// Sets what counts tokens.
    pub fn counter(mut self, counter: TokenCounter) -> Self {
        self.settings.clearing.counter = counter;
        self
    }

    /// Builds the hook.
    ///
    /// # Errors
    /// [`ContextEditingError::Size`] for a trigger that is none, such as 0 tokens, and
    /// [`ContextEditingError::NoPlaceholder`].
    pub fn build(self) -> Result<ContextEditing, ContextEditingError> {
        self.settings.trigger.check()?;
        if self.settings.clearing.placeholder.trim().is_empty() {
            return Err(ContextEditingError::NoPlaceholder);
        }
        Ok(ContextEditing::of(self.settings))
    }
}
