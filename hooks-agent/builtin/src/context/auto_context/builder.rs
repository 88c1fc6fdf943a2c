//! The builder of `AutoContext`: the budget of requests, and the way results are shortened.

use std::fmt;

use crate::context::auto_context::error::AutoContextError;
use crate::context::auto_context::hook::{AutoContext, Settings};
use crate::context::auto_context::view::Shortening;
use crate::context::summary::Summarizer;
use hooks_agent_core::hook::HookModel;
use hooks_agent_core::model::{ContextSize, TokenCounter};

/// What the model that summarizes is asked besides.
const IDS: &str =
    " A result with an id can be read again: name the id, and what the result is about.";

/// Builds an [`AutoContext`].
#[must_use]
pub struct AutoContextBuilder {
    settings: Settings,
}

impl AutoContext {
    /// Starts a hook with the default settings.
    pub fn builder() -> AutoContextBuilder {
        let counter = TokenCounter::approximate();
        let settings = Settings {
            budget: ContextSize::Fraction(0.75),
            window: None,
            shortening: Shortening { counter, large: 2_000, head: 1_000, keep: 6 },
            read: 4_000,
            summarizer: None,
        };
        AutoContextBuilder { settings }
    }
}

impl AutoContextBuilder {
    /// Sets how many tokens a request should have at most: the system message, the descriptions of tools
    /// and the messages. The default is 0.75 of the context window; the rest is for the answer.
    pub fn budget(mut self, budget: ContextSize) -> Self {
        self.settings.budget = budget;
        self
    }

    /// Sets the context window in tokens, for a model of the agent that does not know its own.
    pub fn window(mut self, tokens: u64) -> Self {
        self.settings.window = Some(tokens);
        self
    }

    /// Sets above how many tokens a result is large. The default is 2,000; more than a quarter of the budget
    /// is always large.
    pub fn large(mut self, tokens: u64) -> Self {
        self.settings.shortening.large = tokens;
        self
    }

    /// Sets how many characters of a large result stay. The default is 1,000.
    pub fn head(mut self, characters: usize) -> Self {
        self.settings.shortening.head = characters;
        self
    }

    /// Sets how many messages at the end are shortened last. The default is 6.
    pub fn keep(mut self, messages: usize) -> Self {
        self.settings.shortening.keep = messages;
        self
    }

    /// Sets how many characters `read_offloaded` reads at once. The default is 4,000.
    pub fn read_at_once(mut self, characters: usize) -> Self {
        self.settings.read = characters.max(1);
        self
    }

    /// Summarizes what is still too long with this model. Without one, such a request is sent as long as
    /// it fits into the context window.
    pub fn summarize_with(mut self, model: impl Into<HookModel>) -> Self {
        let mut summarizer = Summarizer::new(model.into(), "auto_context");
        summarizer.prompt.push_str(IDS);
        self.settings.summarizer = Some(summarizer);
        self
    }

    /// Sets what counts tokens.
    pub fn counter(mut self, counter: TokenCounter) -> Self {
        self.settings.shortening.counter = counter;
        self
    }

    /// Builds the hook.
    ///
    /// # Errors
    /// [`AutoContextError::Size`] for a budget that is none, [`AutoContextError::BudgetOfMessages`].
    pub fn build(self) -> Result<AutoContext, AutoContextError> {
        let mut settings = self.settings;
        settings.budget.check()?;
        if let ContextSize::Messages(_) = settings.budget {
            return Err(AutoContextError::BudgetOfMessages);
        }
        if let Some(summarizer) = &mut settings.summarizer {
            summarizer.counter = settings.shortening.counter.clone();
        }
        Ok(AutoContext::of(settings))
    }
}

impl fmt::Debug for AutoContextBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AutoContextBuilder").field(&self.settings).finish()
    }
}
