//! The builder of `Summarization`: the triggers, the messages that stay, and the prompt.

use std::fmt;

use crate::context::summarization::error::SummarizationError;
use crate::context::summarization::hook::{Settings, Summarization};
use crate::context::summarization::on_failure::OnSummaryFailure;
use crate::context::summary::{PREFIX, Summarizer};
use hooks_agent_core::hook::HookModel;
use hooks_agent_core::model::{ContextSize, TokenCounter};

/// Builds a [`Summarization`].
#[must_use]
pub struct SummarizationBuilder {
    triggers: Vec<Vec<ContextSize>>,
    settings: Settings,
}

impl Summarization {
    /// Starts a hook whose summaries this model writes: a [`ChatModel`](hooks_agent_core::model::ChatModel), or a
    /// [`HookModel`] with a timeout.
    pub fn builder(model: impl Into<HookModel>) -> SummarizationBuilder {
        let settings = Settings {
            summarizer: Summarizer::new(model.into(), "summarization"),
            triggers: Vec::new(),
            keep: ContextSize::Messages(20),
            keeps_first_user_message: true,
            prefix: PREFIX.to_owned(),
            window: None,
            on_failure: OnSummaryFailure::default(),
        };
        SummarizationBuilder { triggers: Vec::new(), settings }
    }
}

impl SummarizationBuilder {
    /// Summarizes once the conversation reaches this size. Of several triggers, any one is enough.
    /// Without a trigger it is 0.8 of the context window.
    pub fn trigger(self, size: ContextSize) -> Self {
        self.trigger_all([size])
    }

    /// Summarizes once the conversation reaches all these sizes.
    pub fn trigger_all(mut self, sizes: impl IntoIterator<Item = ContextSize>) -> Self {
        self.triggers.push(sizes.into_iter().collect());
        self
    }

    /// Sets how much of the conversation stays as it is, counted from its end. The default is 20
    /// messages.
    pub fn keep(mut self, size: ContextSize) -> Self {
        self.settings.keep = size;
        self
    }

    /// Sets whether the first message of the user stays too, in front of the summary. The default is
    /// true.
    pub fn keep_first_user_message(mut self, keep: bool) -> Self {
        self.settings.keeps_first_user_message = keep;
        self
    }

    /// Sets what the model is asked, as its system message. It then reads the conversation.
    pub fn prompt(mut self, prompt: impl Into<String>) -> Self {
        self.settings.summarizer.prompt = prompt.into();
        self
    }

    /// Sets the first line of a summary.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.settings.prefix = prefix.into();
        self
    }

    /// Sets what counts tokens that the provider has not reported.
    pub fn counter(mut self, counter: TokenCounter) -> Self {
        self.settings.summarizer.counter = counter;
        self
    }

    /// Sets the context window in tokens, for a model of the agent that does not know its own.
    pub fn window(mut self, tokens: u64) -> Self {
        self.settings.window = Some(tokens);
        self
    }

    /// Sets how many tokens of the conversation the model reads at once. A longer one is summarized
    /// piece by piece. The default is half of its context window, or 16,000 if that is not known.
    pub fn max_input(mut self, tokens: u64) -> Self {
        self.settings.summarizer.max_input = Some(tokens);
        self
    }

    /// Sets what becomes of the call if the summary fails.
    pub fn on_failure(mut self, on_failure: OnSummaryFailure) -> Self {
        self.settings.on_failure = on_failure;
        self
    }

    /// Builds the hook.
    ///
    /// # Errors
    /// [`SummarizationError::Size`] for a size that is none, such as 0 messages, and
    /// [`SummarizationError::NoPrompt`].
    pub fn build(self) -> Result<Summarization, SummarizationError> {
        let Self { mut triggers, mut settings } = self;
        triggers.retain(|sizes| !sizes.is_empty());
        if triggers.is_empty() {
            triggers.push(vec![ContextSize::Fraction(0.8)]);
        }
        for size in triggers.iter().flatten().chain([&settings.keep]) {
            size.check()?;
        }
        if settings.summarizer.prompt.trim().is_empty() {
            return Err(SummarizationError::NoPrompt);
        }
        settings.triggers = triggers;
        Ok(Summarization::of(settings))
    }
}

impl fmt::Debug for SummarizationBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SummarizationBuilder")
            .field("triggers", &self.triggers)
            .field("settings", &self.settings)
            .finish()
    }
}
