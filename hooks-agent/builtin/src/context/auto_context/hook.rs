//! The hook that fits requests into a budget.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use hooks_core::{HookResult, HookRole};

use crate::context::auto_context::covered::Covered;
use crate::context::auto_context::error::AutoContextError;
use crate::context::auto_context::offload::{id, whole_text};
use crate::context::auto_context::reader::reader;
use crate::context::auto_context::thread::OfThread;
use crate::context::auto_context::view::{Shortening, View};
use crate::context::summary::{Summarizer, SummaryError, place};
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::event::{PreReasoning, PreSummary};
use hooks_agent_core::hook::HookModelError;
use hooks_agent_core::message::{Messages, Msg, ToolResult};
use hooks_agent_core::model::{ContextSize, ToolSpec};

/// Fits each request into a budget of tokens. Memory, the store and the events of tools keep the
/// conversation as it is; the model reads less of it.
///
/// A request within the budget is sent as it is. Else, in this order, until it fits:
///
/// 1. Large results of tools that are not in the latest messages become a head and a reference.
/// 2. All results that are not in the latest messages become a reference.
/// 3. Large results in the latest messages become a head and a reference, then all become a reference.
/// 4. With [`summarize_with`](crate::context::AutoContextBuilder::summarize_with), a summary takes the place of the
///    oldest messages, tool calls and results included; the first message of the user stays, and what
///    hooks added to the request. It is kept with the thread, so each message is summarized once. The model that writes it reads the id of each
///    large result, so that the summary can refer to what it leaves out.
///
/// A request that then does not fit into the context window is not sent: the call fails with
/// [`AutoContextError::TooLong`], which says by how much.
///
/// The tool `read_offloaded(id, from, to)` reads the characters of a result again. It finds the result in
/// the thread of the call, also after a restart, and nowhere else; it cannot read what another hook
/// removed from the thread, such as [`Summarization`](crate::context::Summarization). Use one of
/// the two for summaries.
///
/// | setting | default |
/// |---|---|
/// | [`budget`](crate::context::AutoContextBuilder::budget) | 0.75 of the context window |
/// | [`window`](crate::context::AutoContextBuilder::window) | that of the agent's [model](hooks_agent_core::model::ChatModel::context_window) |
/// | [`large`](crate::context::AutoContextBuilder::large), [`head`](crate::context::AutoContextBuilder::head) | 2,000 tokens, or a quarter of the budget; 1,000 characters |
/// | [`keep`](crate::context::AutoContextBuilder::keep) | the latest 6 messages |
/// | [`read_at_once`](crate::context::AutoContextBuilder::read_at_once) | 4,000 characters |
/// | [`summarize_with`](crate::context::AutoContextBuilder::summarize_with) | no summaries |
/// | [`counter`](crate::context::AutoContextBuilder::counter) | [`TokenCounter::approximate`](hooks_agent_core::model::TokenCounter::approximate) |
///
/// A summary that fails is reported through `tracing`, and the request is sent if it fits into the window.
/// Its priority is 290: after hooks that add to the request. Hooks that observe `PreReasoning` behind it
/// record what is sent. It is not inherited.
///
/// ```
/// use hooks_agent::builtin::context::AutoContext;
/// use hooks_agent::model::ContextSize;
/// use hooks_agent::prelude::*;
/// # use serde_json::{Value, json};
///
/// # futures::executor::block_on(async {
/// let auto = AutoContext::builder().budget(ContextSize::Tokens(500)).large(100).head(20).build()?;
/// let log = FunctionTool::new("log", "Reads the log.", async |_: Value| "line\n".repeat(1000));
/// // `model` calls the tool and answers with what it reads of the result.
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
/// #         Some(result) => result.output.as_str().into(),
/// #         None => ToolUse::new("1", "log", json!({})).into(),
/// #     }
/// # });
/// let agent = ReActAgent::builder("assistant").model(model).tool(log).hook(auto).build()?;
/// let read = agent.call("What happened?").await?.text();
/// assert!(read.starts_with("[The first 20 of 5000 characters. Read more with read_offloaded"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct AutoContext {
    settings: Arc<Settings>,
    counted: CountedTools,
}

/// How requests are fitted.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) budget: ContextSize,
    pub(super) window: Option<u64>,
    pub(super) shortening: Shortening,
    /// How many characters are read at once.
    pub(super) read: usize,
    pub(super) summarizer: Option<Summarizer>,
}

/// What is sent, before it is shortened.
struct Request<'a> {
    system: Option<&'a Msg>,
    tools: Arc<[ToolSpec]>,
    messages: &'a Messages,
    window: Option<u64>,
}

/// The tools of the latest round, and their tokens.
type CountedTools = Arc<Mutex<Option<(Arc<[ToolSpec]>, u64)>>>;

/// Whether a summary failed in this call.
#[derive(Default)]
struct Failed(AtomicBool);

impl AutoContext {
    /// The priority: after hooks that add to the request.
    pub const PRIORITY: i32 = 290;

    /// The name of the thread value with the summary.
    pub const THREAD_VALUE: &str = "AutoContext";

    pub(super) fn of(settings: Settings) -> Self {
        Self { settings: Arc::new(settings), counted: CountedTools::default() }
    }

    /// Returns the tokens of the tools. Those of an agent are the same in each round.
    fn count_tools(&self, tools: &Arc<[ToolSpec]>) -> u64 {
        if tools.is_empty() {
            return 0;
        }
        let counted = || self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, tokens)) = &*counted()
            && Arc::ptr_eq(known, tools)
        {
            return *tokens;
        }
        let tokens = self.settings.shortening.counter.count_tools(&**tools);
        *counted() = Some((tools.clone(), tokens));
        tokens
    }

    /// Returns the messages to send, if they differ from those of the request.
    async fn fit(&self, cx: &CallContext, request: Request<'_>) -> HookResult<Option<Messages>> {
        let Settings { shortening, summarizer, .. } = &*self.settings;
        let window = self.settings.window.or(request.window);
        let size = |error| AutoContextError::Size(error);
        let budget = self.settings.budget.tokens(window).map_err(size)?.unwrap_or(u64::MAX);
        let counter = &shortening.counter;
        let fixed = counter.count(request.system) + self.count_tools(&request.tools);
        let whole = request.messages;
        if fixed + counter.count(whole) <= budget {
            return Ok(None);
        }
        let covered = cx.thread_value::<Covered>(Self::THREAD_VALUE)?;
        let thread = OfThread::of(cx, whole);
        let covered = covered.filter(|covered| covered.is_of(&thread.history));
        let apply = |covered: &Option<Covered>| {
            let shorter = covered.as_ref().map(|covered| covered.apply(whole, &thread));
            View::new(shortening, shorter.unwrap_or_else(|| whole.clone()), fixed, budget)
        };
        let mut view = apply(&covered);
        view.shorten();
        if !view.fits()
            && let Some(summarizer) = summarizer
        {
            // Boxed, so that the future of other rounds stays small.
            let left = budget.saturating_sub(fixed) / 2;
            let cover = self.cover(cx, summarizer, (whole, &thread), covered.as_ref(), &view, left);
            if let Some(covered) = Box::pin(cover).await? {
                view = apply(&Some(covered));
                view.shorten();
            }
        }
        let window = window.unwrap_or(budget);
        if view.total > window {
            let (tokens, over) = (view.total, view.total - window);
            return Err(AutoContextError::TooLong { tokens, window, over }.into());
        }
        Ok(Some(view.messages))
    }

    /// Summarizes more of the conversation, so that the rest takes at most `left` tokens.
    async fn cover(
        &self,
        cx: &CallContext,
        summarizer: &Summarizer,
        (whole, thread): (&Messages, &OfThread),
        covered: Option<&Covered>,
        view: &View<'_>,
        mut left: u64,
    ) -> HookResult<Option<Covered>> {
        let failed: Arc<Failed> = cx.hook_state(Arc::as_ptr(&self.settings).addr());
        let before = covered.map_or(0, |covered| thread.place_behind(covered.count()));
        let mut kept = 0;
        for cost in view.costs.iter().rev() {
            let Some(rest) = left.checked_sub(*cost) else { break };
            (left, kept) = (rest, kept + 1);
        }
        let first = thread.first_user_message(whole);
        let end = place(whole, kept.min(whole.len() - before), first);
        let count = thread.count_before(end);
        if end <= before || count == thread.count_before(before) || failed.0.load(Ordering::Relaxed)
        {
            return Ok(None);
        }
        let new = (before..end).filter(|place| Some(*place) != first && thread.is_own(*place));
        let new = new.map(|place| &whole[place]);
        let before = covered.map(Covered::summary).unwrap_or_default();
        let counter = &self.settings.shortening.counter;
        let id_of = |result: &ToolResult| {
            let text = whole_text(result);
            view.is_large(counter.count_text(&text)).then(|| id(&text))
        };
        match summarizer.summarize(cx, before, new, &id_of).await {
            Ok(summary) => {
                let covered = Covered::new(&thread.history, count, summary);
                cx.set_thread_value(Self::THREAD_VALUE, &covered)?;
                Ok(Some(covered))
            }
            Err(error) => {
                failed.0.store(true, Ordering::Relaxed);
                // After an interrupt, the call ends by itself.
                if !matches!(error, SummaryError::Model(HookModelError::Interrupted)) {
                    tracing::warn!(target: "hooks_agent::builtin::context",
                        agent = cx.agent_name(),
                        error = &error as &dyn std::error::Error,
                        "the oldest messages were not summarized"
                    );
                }
                Ok(None)
            }
        }
    }
}

#[agent_hook(priority = Self::PRIORITY,
    tools = |hook: &Self| vec![reader(hook.settings.read)],
    role = self.settings.summarizer.as_ref().map(|_| HookRole::Observes)
)]
impl AutoContext {
    async fn pre_reasoning(&self, event: &mut PreReasoning<'_>) -> HookResult {
        let request = Request {
            system: event.system_message(),
            tools: event.shared_tools(),
            messages: event.messages(),
            window: event.context_window(),
        };
        if let Some(messages) = self.fit(event.context(), request).await? {
            event.set_messages(messages);
        }
        Ok(())
    }

    async fn pre_summary(&self, event: &mut PreSummary<'_>) -> HookResult {
        let request = Request {
            system: event.system_message(),
            tools: Arc::default(),
            messages: event.messages(),
            window: event.context_window(),
        };
        if let Some(messages) = self.fit(event.context(), request).await? {
            event.set_messages(messages);
        }
        Ok(())
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = self.summarizer.as_ref().map(|summarizer| summarizer.model.name());
        f.debug_struct("Settings")
            .field("budget", &self.budget)
            .field("shortening", &self.shortening)
            .field("summarizer", &model)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for AutoContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AutoContext").field(&self.settings).finish()
    }
}
