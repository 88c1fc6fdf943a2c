//! The hook that searches for each call.

use std::fmt;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::future::{Either, select};
use hooks_core::HookResult;

use crate::rag::error::KnowledgeError;
use crate::rag::knowledge::Knowledge;
use crate::rag::measure::{Measured, measure};
use crate::rag::passage::Passages;
use crate::rag::prompt::{FAILED, marked};
use crate::rag::search::{OnFailure, Settings, search};
use crate::rag::tool::search_tool;
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::{CallContext, Door};
use hooks_agent_core::event::{EventMask, PreCall, PreReasoning, PreSummary};
use hooks_agent_core::message::{Messages, Msg, Role};
use hooks_agent_core::tool::Tools;

/// Searches a [`Knowledge`] for what the caller asks, and has the model read the passages that were
/// found, each with its source and marked as data. The technique is known as retrieval-augmented
/// generation.
///
/// The text of the caller's user messages is the query, once for each call. Every round, and the
/// summary, then has the same passages: one user message before the last user message of the
/// caller. They are in the request only: memory and the store keep none. A call that
/// [resumes](PreCall::resumes) a run searches again, with the last user message of the thread. A call
/// without text searches nothing.
///
/// [`as_tool`](Self::as_tool) gives the model a tool `search_knowledge` in place of this search. Its
/// results are tool results like others, so memory keeps them.
///
/// | setting | default |
/// |---|---|
/// | [`new`](Self::new): the knowledge | required |
/// | [`limit`](Self::limit): passages of a search | 5 |
/// | [`threshold`](Self::threshold): the lowest [score](crate::Passage::score) | 0.35 |
/// | [`share_of_best`](Self::share_of_best): the lowest score as a share of the best one | 0.6 |
/// | [`timeout`](Self::timeout) of a search | none |
/// | [`on_failure`](Self::on_failure) | [`OnFailure::Fail`] |
/// | [`as_tool`](Self::as_tool) | a search before each call |
///
/// Passages are between `<passage id="..">` and `</passage id="..">` with an id that is random for each
/// call, and the message says that they are never instructions. A model follows
/// instructions in marked text less often, but it may: documents that strangers write need guards
/// that refuse or ask, such as [`RuleOfTwo`](https://docs.rs/hooks-agent/latest/hooks_agent/builtin/guard/struct.RuleOfTwo.html). The hook does not
/// check who may read a document, and not whether the answer is in the passages.
///
/// Other hooks read the passages of a call as [`Passages`] of its context.
///
/// # Order
/// The priority is [`PRIORITY`](Self::PRIORITY): after guards of priority 10, so that the query has no
/// personal data, and before hooks of priority 100. Guards screen the passages, whatever their priority:
/// see [`Door::Passage`]. It is not
/// [inherited](hooks_agent_core::hook::AgentHookExt::inherited): a sub-agent has knowledge of its own.
///
/// # Errors
/// A failed search fails the call with the [`KnowledgeError`](crate::KnowledgeError)
/// as its cause; of the tool, the model reads it. An interrupt ends a search.
///
/// ```
/// use hooks_agent::builtin::knowledge::{Knowledge, KnowledgeFuture, Passage, Rag};
/// use hooks_agent::prelude::*;
///
/// struct Handbook;
///
/// impl Knowledge for Handbook {
///     fn search<'a>(&'a self, _query: &'a str, _limit: usize) -> KnowledgeFuture<'a> {
///         let found = vec![Passage::new("Offices open at nine.", "handbook.md", 0.9)];
///         Box::pin(async move { Ok(found) })
///     }
/// }
///
/// # futures::executor::block_on(async {
/// // `model` answers with what it read before the question.
/// # let model = ScriptedModel::new("script", |request| request.messages[0].text());
/// let agent = ReActAgent::builder("clerk").model(model).hook(Rag::new(Handbook)).build()?;
/// let reply = agent.call("When do you open?").await?.text();
/// assert!(reply.contains("source=\"handbook.md\"") && reply.contains("Offices open at nine."));
/// assert_eq!(agent.memory().messages().len(), 2); // The question and the answer.
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct Rag {
    knowledge: Arc<dyn Knowledge>,
    settings: Settings,
}

/// What a call found.
#[derive(Default)]
struct Found(OnceLock<Placed>);

struct Placed {
    /// The text of the caller's last user message.
    question: String,
    message: Msg,
}

impl Rag {
    /// The priority: after what redacts the query, before hooks of the program.
    pub const PRIORITY: i32 = 90;

    /// Creates a hook that searches this knowledge.
    pub fn new(knowledge: impl Knowledge + 'static) -> Self {
        Self { knowledge: Arc::new(knowledge), settings: Settings::default() }
    }

    /// Sets how many passages a search returns. With 0, it is not searched.
    pub fn limit(mut self, limit: usize) -> Self {
        self.settings.limit = limit;
        self
    }

    /// Sets the lowest score of a passage, from 0 to 1. The knowledge says what a score means. A search
    /// none of whose passages reaches it finds nothing.
    pub fn threshold(mut self, threshold: f32) -> Self {
        self.settings.threshold = threshold;
        self
    }

    /// Sets the lowest score of a passage as a share of the best score that the search finds, from 0 to
    /// 1: how much of what a query can reach depends on its words. With 0, the
    /// [`threshold`](Self::threshold) alone decides.
    ///
    /// ```
    /// use hooks_agent::builtin::knowledge::{Knowledge, KnowledgeFuture, Passage, Passages, Rag};
    /// use hooks_agent::prelude::*;
    ///
    /// struct Handbook;
    ///
    /// impl Knowledge for Handbook {
    ///     fn search<'a>(&'a self, _query: &'a str, _limit: usize) -> KnowledgeFuture<'a> {
    ///         let found = [("hours.md", 0.8), ("lunch.md", 0.5), ("parking.md", 0.3)];
    ///         let found = found.map(|(source, score)| Passage::new("text", source, score));
    ///         Box::pin(async move { Ok(Vec::from(found)) })
    ///     }
    /// }
    ///
    /// # futures::executor::block_on(async {
    /// let count = on(|event: &mut PostCall<'_>| {
    ///     // `hours.md` and, with more than half of its score, `lunch.md`.
    ///     assert_eq!(event.context().get::<Passages>().unwrap().len(), 2);
    /// });
    /// let model = ScriptedModel::new("script", |_| "At nine.");
    /// let rag = Rag::new(Handbook).share_of_best(0.5);
    /// let agent = ReActAgent::builder("clerk").model(model).hook(rag).hook(count).build()?;
    /// agent.call("When do you open?").await?;
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    pub fn share_of_best(mut self, share: f32) -> Self {
        self.settings.share_of_best = share;
        self
    }

    /// Sets the longest time of a search. Requires a runtime of tokio with time enabled.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = Some(timeout);
        self
    }

    /// Sets what happens if a search fails. Of a tool, the model reads the error.
    pub fn on_failure(mut self, on_failure: OnFailure) -> Self {
        self.settings.on_failure = on_failure;
        self
    }

    /// Gives the model the tool `search_knowledge(query, limit)` in place of a search before each
    /// call.
    pub fn as_tool(mut self) -> Self {
        self.settings.as_tool = true;
        self
    }

    /// Asks the knowledge these questions, each with the [source](crate::Passage::source)
    /// that has the answer, and returns how many the model would read it for: to choose
    /// [`threshold`](Self::threshold) and [`share_of_best`](Self::share_of_best) by documents and
    /// questions of your own, since what a score is depends on both. Fifty questions tell something.
    ///
    /// # Errors
    /// The error of a search that fails.
    ///
    /// ```
    /// use hooks_agent::builtin::knowledge::{Knowledge, KnowledgeFuture, Passage, Rag};
    ///
    /// struct Handbook;
    ///
    /// impl Knowledge for Handbook {
    ///     fn search<'a>(&'a self, query: &'a str, _limit: usize) -> KnowledgeFuture<'a> {
    ///         let score = if query.contains("open") { 0.8 } else { 0.2 };
    ///         let found = vec![Passage::new("Offices open at nine.", "hours.md", score)];
    ///         Box::pin(async move { Ok(found) })
    ///     }
    /// }
    ///
    /// # futures::executor::block_on(async {
    /// let rag = Rag::new(Handbook);
    /// let questions = [("When do you open?", "hours.md"), ("From what hour?", "hours.md")];
    /// let measured = rag.measure(questions).await?;
    /// assert_eq!((measured.asked, measured.found, measured.shown), (2, 2, 1));
    ///
    /// let rag = rag.threshold(measured.threshold(0)).share_of_best(measured.share_of_best(0));
    /// assert_eq!(rag.measure(questions).await?.shown, 2);
    /// # Ok::<(), hooks_agent::builtin::knowledge::KnowledgeError>(())
    /// # }).unwrap();
    /// ```
    pub async fn measure<Q: Into<String>, S: Into<String>>(
        &self,
        questions: impl IntoIterator<Item = (Q, S)>,
    ) -> Result<Measured, KnowledgeError> {
        let questions = questions.into_iter();
        let questions = questions.map(|(question, source)| (question.into(), source.into()));
        measure(&self.knowledge, self.settings, questions.collect()).await
    }

    /// Returns what the hook keeps of a call. The knowledge tells hooks apart.
    fn found(&self, cx: &CallContext) -> Arc<Found> {
        cx.hook_state(Arc::as_ptr(&self.knowledge).addr())
    }

    async fn pre_call(&self, event: &PreCall<'_>, found: &Found) -> HookResult {
        let cx = event.context();
        let Some((query, question)) = asked(event) else { return Ok(()) };
        let searched = {
            let search = search(&self.knowledge, self.settings, &query, self.settings.limit);
            match select(pin!(search), pin!(cx.interrupted())).await {
                Either::Left((searched, _)) => searched,
                Either::Right(_) => return Ok(cx.checkpoint().await?),
            }
        };
        let message = match searched {
            Ok(passages) if passages.is_empty() => return Ok(()),
            Ok(mut passages) => {
                for passage in &mut passages {
                    passage.text = cx.screen(Door::Passage, &passage.text).await?;
                    passage.source = cx.screen(Door::Passage, &passage.source).await?;
                    if let Some(title) = &mut passage.title {
                        *title = cx.screen(Door::Passage, title).await?;
                    }
                }
                let message = Msg::user(marked(&passages));
                cx.insert(Passages::from(passages));
                message
            }
            Err(error) if self.settings.on_failure == OnFailure::Continue => {
                let (agent, error) = (cx.agent_name(), &error as &dyn std::error::Error);
                tracing::warn!(target: "hooks_agent::builtin::knowledge", agent, error, "the model answers without passages");
                Msg::user(FAILED)
            }
            Err(error) => return Err(error.into()),
        };
        // A call fires the event once.
        let _ = found.0.set(Placed { question, message });
        Ok(())
    }
}

/// Returns the query of a call, and the last user message that is part of it.
fn asked(event: &PreCall<'_>) -> Option<(String, String)> {
    let texts = if event.resumes() {
        let memory = event.context().memory()?.messages();
        let last = memory.iter().rev().find(|msg| msg.role == Role::User);
        last.map(Msg::text).into_iter().collect::<Vec<_>>()
    } else {
        let asking = event.messages().iter().filter(|msg| msg.role == Role::User);
        asking.map(Msg::text).collect()
    };
    let question = texts.last()?.clone();
    let query = texts.join("\n");
    (!query.trim().is_empty()).then_some((query, question))
}

/// Puts the passages before the last user message of the caller, among the first `end` messages.
fn place(messages: &mut Messages, found: &Found, end: usize) {
    let Some(Placed { question, message }) = found.0.get() else { return };
    let last = |is: &dyn Fn(&Msg) -> bool| {
        (0..end).rev().find(|&at| messages[at].role == Role::User && is(&messages[at]))
    };
    // A later hook may have changed the text of the message.
    let at = last(&|msg| msg.text() == *question).or_else(|| last(&|_| true));
    messages.insert(at.unwrap_or(0), message.clone());
}

#[agent_hook(priority = Self::PRIORITY, events = self.events_of(), tools = Self::tools_of)]
impl Rag {
    async fn on_question(&self, event: &PreCall<'_>) -> HookResult {
        self.pre_call(event, &self.found(event.context())).await
    }

    fn pre_reasoning(&self, event: &mut PreReasoning<'_>) {
        let (found, end) = (self.found(event.context()), event.messages().len());
        place(event.messages_mut(), &found, end);
    }

    fn pre_summary(&self, event: &mut PreSummary<'_>) {
        let found = self.found(event.context());
        // The last message asks for the summary.
        let end = event.messages().len().saturating_sub(1);
        place(event.messages_mut(), &found, end);
    }

    fn events_of(&self) -> EventMask {
        let is_idle = self.settings.as_tool || self.settings.limit == 0;
        if is_idle { EventMask::NONE } else { EventMask::ALL }
    }

    fn tools_of(&self) -> Tools {
        if !self.settings.as_tool {
            return Tools::new();
        }
        vec![search_tool(self.knowledge.clone(), self.settings)]
    }
}

impl fmt::Debug for Rag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rag").field("settings", &self.settings).finish_non_exhaustive()
    }
}
