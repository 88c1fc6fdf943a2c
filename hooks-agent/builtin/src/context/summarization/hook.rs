//! The hook that summarizes conversations.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hooks_core::{HookResult, HookRole};
use serde_json::json;

use crate::context::summarization::on_failure::OnSummaryFailure;
use crate::context::summarization::size::{METADATA_KEY, is_summary, tokens};
use crate::context::summary::{Summarizer, SummaryError, place};
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::{PreCall, PreReasoning};
use hooks_agent_core::hook::HookModelError;
use hooks_agent_core::message::{Messages, Msg, Role};
use hooks_agent_core::model::{ContextSize, ContextSizeError};

/// Replaces the old messages of a thread by a summary, once the conversation is long.
///
/// At the start of a round it looks at the conversation. If that reaches a trigger, a model summarizes all
/// but the latest messages, tool calls and their results included. The thread then has the first message
/// of the user, the summary as a message of the user, and the latest messages as they are. More of these
/// stay than asked for, if the cut would part a tool call from its results, or if the model has not answered
/// them yet; fewer, if nothing else could be summarized. The store keeps what was replaced as
/// [history](hooks_agent_core::store::Store::history).
///
/// | setting | default |
/// |---|---|
/// | [`trigger`](crate::context::SummarizationBuilder::trigger), [`trigger_all`](crate::context::SummarizationBuilder::trigger_all) | 0.8 of the context window |
/// | [`keep`](crate::context::SummarizationBuilder::keep) | 20 messages |
/// | [`keep_first_user_message`](crate::context::SummarizationBuilder::keep_first_user_message) | true |
/// | [`counter`](crate::context::SummarizationBuilder::counter) | the usage that the provider reported, else [`TokenCounter::approximate`](hooks_agent_core::model::TokenCounter::approximate) |
/// | [`window`](crate::context::SummarizationBuilder::window) | the [context window](hooks_agent_core::model::ChatModel::context_window) of the agent's model |
/// | [`prompt`](crate::context::SummarizationBuilder::prompt), [`prefix`](crate::context::SummarizationBuilder::prefix) | English texts |
/// | [`max_input`](crate::context::SummarizationBuilder::max_input) | half of the window of the model that summarizes |
/// | [`on_failure`](crate::context::SummarizationBuilder::on_failure) | [`OnSummaryFailure::Keep`] |
///
/// A summary that fails changes nothing: the model fails (asked up to 3 times if the error may pass),
/// takes too long, calls a tool in place of an answer, or the call is interrupted. The model is a
/// [`HookModel`](hooks_agent_core::hook::HookModel): the stream, the limits and the hooks of the agent do not see it.
///
/// Its priority is 60: after hooks that redact at `PreReasoning`, whose changes the summary is made of,
/// and before hooks that add to the request. While an earlier hook adds, removes or moves messages, the
/// conversation is not summarized. It is not inherited: a sub-agent has a conversation of its own.
///
/// ```
/// use hooks_agent::builtin::context::Summarization;
/// use hooks_agent::model::ContextSize;
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let small = ScriptedModel::new("small", |_| "Ada counts.");
/// let summarization = Summarization::builder(small)
///     .trigger(ContextSize::Messages(5))
///     .keep(ContextSize::Messages(2))
///     .keep_first_user_message(false)
///     .build()?;
/// let model = ScriptedModel::new("echo", |request| request.last_text());
/// let agent = ReActAgent::builder("assistant").model(model).hook(summarization).build()?;
/// for number in ["1", "2", "3"] {
///     agent.call(number).await?;
/// }
/// let texts: Vec<_> = agent.memory().messages().iter().map(Msg::text).collect();
/// let summary = "Here is a summary of the conversation to date:\n\nAda counts.";
/// assert_eq!(texts, [summary, "2", "3", "3"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct Summarization {
    settings: Arc<Settings>,
}

/// How conversations are summarized.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) summarizer: Summarizer,
    /// Any one is enough; of one, all sizes must be reached.
    pub(super) triggers: Vec<Vec<ContextSize>>,
    pub(super) keep: ContextSize,
    pub(super) keeps_first_user_message: bool,
    pub(super) prefix: String,
    pub(super) window: Option<u64>,
    pub(super) on_failure: OnSummaryFailure,
}

/// What the hook keeps of a call.
#[derive(Default)]
struct OfCall {
    /// Whether a summary failed.
    has_failed: AtomicBool,
    /// How many messages the caller sent.
    input: AtomicUsize,
}

impl Summarization {
    /// The priority: after hooks that redact, before hooks that add to the request.
    pub const PRIORITY: i32 = 60;

    /// The key of the metadata of a summary: how many messages it replaced, as `replaced`, and how many
    /// it kept behind itself, as `kept`.
    pub const METADATA_KEY: &str = METADATA_KEY;

    pub(super) fn of(settings: Settings) -> Self {
        Self { settings: Arc::new(settings) }
    }

    fn of_call(&self, cx: &CallContext) -> Arc<OfCall> {
        cx.hook_state(Arc::as_ptr(&self.settings).addr())
    }

    /// Returns whether the conversation reaches a trigger.
    fn is_due(&self, history: &Messages, window: Option<u64>) -> Result<bool, ContextSizeError> {
        let mut counted = None;
        let mut count =
            || *counted.get_or_insert_with(|| tokens(history, &self.settings.summarizer.counter));
        for sizes in &self.settings.triggers {
            let mut is_due = true;
            for size in sizes {
                is_due &= match size.tokens(window)? {
                    Some(tokens) => count() >= tokens,
                    None => size.is_reached(history, &self.settings.summarizer.counter, window)?,
                };
            }
            if is_due {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns how many messages are replaced; 0 if none.
    fn place(
        &self,
        history: &Messages,
        window: Option<u64>,
        input: usize,
    ) -> Result<usize, ContextSizeError> {
        let counter = &self.settings.summarizer.counter;
        let kept = match (self.settings.keep, self.settings.keep.tokens(window)?) {
            (_, Some(most)) => latest(history, most, |msg| counter.count([msg])),
            (ContextSize::Messages(count), None) => count,
            (_, None) => history.len(),
        };
        // A caller may repeat messages that the model has not answered, so they stay as they are.
        let unanswered = history.iter().rev().take_while(|msg| msg.role == Role::User).count();
        let kept = kept.max(input.min(unanswered));
        let first = self.first_user_message(history);
        let place = place(history, kept, first);
        let mut replaced = (0..place).filter(|place| Some(*place) != first);
        // A summary alone does not become shorter.
        Ok(if replaced.all(|place| is_summary(&history[place])) { 0 } else { place })
    }

    /// Returns the place of the first message of the user, if that stays.
    fn first_user_message(&self, history: &Messages) -> Option<usize> {
        let is_first = |msg: &Msg| msg.role == Role::User && !is_summary(msg);
        history.iter().position(is_first).filter(|_| self.settings.keeps_first_user_message)
    }

    async fn summarize(
        &self,
        event: &mut PreReasoning<'_>,
        history: Messages,
        place: usize,
    ) -> HookResult {
        if !event.keeps_places(&history) {
            tracing::warn!(target: "hooks_agent::builtin::context",
                agent = event.context().agent_name(),
                "not summarized: a hook that runs before `Summarization` added, removed or moved messages"
            );
            return Ok(());
        }
        let first = self.first_user_message(&history).filter(|first| *first < place);
        let cx = event.context();
        let replaced = (0..place).filter(|place| Some(*place) != first);
        // With the changes of hooks that redact.
        let of_round = replaced.clone().map(|place| &event.messages()[place]);
        let summary = match self.settings.summarizer.summarize(cx, "", of_round, &|_| None).await {
            // The call ends by itself.
            Err(SummaryError::Model(HookModelError::Interrupted)) => return Ok(()),
            Err(error) => return self.fail(event, error),
            Ok(summary) => summary,
        };
        let mut msg = Msg::user(format!("{}\n\n{summary}", self.settings.prefix));
        let about = json!({ "replaced": replaced.count(), "kept": history.len() - place });
        msg.metadata.insert(Self::METADATA_KEY.to_owned(), about);
        let all: Vec<Arc<Msg>> = history.clone().into_iter().collect();
        let shorter = first.map(|first| all[first].clone()).into_iter().chain([Arc::new(msg)]);
        let shorter: Vec<_> = shorter.chain(all[place..].iter().cloned()).collect();
        match event.replace_history(&history, shorter).await {
            Err(error @ AgentError::Compression(_)) => {
                self.of_call(event.context()).has_failed.store(true, Ordering::Relaxed);
                tracing::warn!(target: "hooks_agent::builtin::context", error = &error as &dyn std::error::Error, "not summarized");
                Ok(())
            }
            ended => Ok(ended?),
        }
    }

    fn fail(&self, event: &PreReasoning<'_>, error: SummaryError) -> HookResult {
        if self.settings.on_failure == OnSummaryFailure::Fail {
            return Err(error.into());
        }
        self.of_call(event.context()).has_failed.store(true, Ordering::Relaxed);
        tracing::warn!(target: "hooks_agent::builtin::context",
            agent = event.context().agent_name(),
            error = &error as &dyn std::error::Error,
            "the conversation stays as it is"
        );
        Ok(())
    }
}

/// Returns how many messages at the end have at most this many tokens together.
fn latest(history: &Messages, most: u64, count: impl Fn(&Msg) -> u64) -> usize {
    let mut left = most;
    let fits = |msg: &&Msg| match left.checked_sub(count(msg)) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    history.iter().rev().take_while(fits).count()
}

#[agent_hook(priority = Self::PRIORITY, role = HookRole::Observes)]
impl Summarization {
    fn pre_call(&self, event: &PreCall<'_>) {
        let count = event.messages().len();
        self.of_call(event.context()).input.store(count, Ordering::Relaxed);
    }

    async fn pre_reasoning(&self, event: &mut PreReasoning<'_>) -> HookResult {
        let history = event.history();
        let window = self.settings.window.or(event.context_window());
        if self.is_due(&history, window)? {
            let of_call = self.of_call(event.context());
            let place = self.place(&history, window, of_call.input.load(Ordering::Relaxed))?;
            if place > 0 && !of_call.has_failed.load(Ordering::Relaxed) {
                // Boxed, so that the future of other rounds stays small.
                Box::pin(self.summarize(event, history, place)).await?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("model", &self.summarizer.model.name())
            .field("triggers", &self.triggers)
            .field("keep", &self.keep)
            .field("on_failure", &self.on_failure)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Summarization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Summarization").field(&self.settings).finish()
    }
}
