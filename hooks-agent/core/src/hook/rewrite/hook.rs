//! The hook that rewrites texts.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use hooks_core::{BoxFuture, HookResult, HookRole};
use uuid::Uuid;

use crate::call::{CallContext, Foreign, ForeignGuard};
use crate::error::{AgentError, TextBlocked};
use crate::event::{EventKind, EventMask, Flow, HookEvent};
use crate::hook::agent_hook::AgentHook;
use crate::hook::around::{AroundMask, ModelCall, NextModel, NextTool, ToolCall};
use crate::hook::priority;
use crate::hook::rewrite::kept::InThreads;
use crate::hook::rewrite::places::{Places, output, rewritten_error, tool_error};
use crate::message::ToolResult;
use crate::model::{CallTexts, Find, Finding, ModelAnswer, Rewriter, TextPlace};
use crate::tool::ToolError;

/// Rewrites texts by a [`Rewriter`]: what the model says, and by choice what it is given.
///
/// | place | default | what is rewritten, and where |
/// |---|---|---|
/// | [`output`](Rewrite::output) | yes | answers and summaries, before hooks, memory, stream and caller receive them; replies that hooks answer with |
/// | [`input`](Rewrite::input) | no | texts of the user, before memory receives them; what came into memory another way, before the model receives it; what comes in by another [door](crate::call::Door) |
/// | [`tool_results`](Rewrite::tool_results) | no | results, errors and progress of tools, before error hooks, memory, stream and model receive them; results in the input |
/// | [`tool_arguments`](Rewrite::tool_arguments) | no | arguments of tool calls of the model, before hooks, memory, stream and tool receive them; not those that a person edits |
///
/// Images, audio, files, system messages and names stay as they are. Changed thoughts lose their
/// signature. Empty chunks of a stream are dropped.
///
/// In a stream, text that becomes one block of the message is rewritten as one text, as are thoughts.
/// Other chunks between two texts, such as thoughts or a tool call, keep them apart. What may still
/// become a finding with more text is held back: a found range is never emitted; all other text is
/// emitted once, in order. The result does not depend on how the model splits its text into chunks.
/// Several of these hooks search the text of the model, and text is held back once; see [`Rewriter`].
///
/// What it wrote is not searched again: a replacement makes new boundaries of words, and memory, reply and
/// later requests have what the stream has shown. After a restart, this holds for rewriters with an
/// [id](Rewriter::known_as); for rewriters per call without one, in the call.
///
/// A finding that blocks fails the call with [`TextBlocked`](crate::hook::TextBlocked) (input) or
/// [`ModelError::Blocked`](crate::model::ModelError::Blocked) (output, arguments); a blocked result of a
/// tool becomes an error that the model reads. Memory keeps nothing of a blocked text.
///
/// It runs at [`priority::SECURITY`], in nested calls too, and in agents that are tools of its agent.
///
/// A rewriter that [asks](Rewriter::asks) takes the time of its answers, and holds a stream back by its
/// [parts](crate::model::AsyncFind::part). Nobody waits for the progress of a tool: it is dropped where such a rewriter
/// would rewrite it.
///
/// ```
/// use hooks_agent::hook::Rewrite;
/// use hooks_agent::model::Finding;
/// use hooks_agent::prelude::*;
///
/// let mask = Rewrite::new(6, |text, from| {
///     let start = from + text[from..].find("secret")?;
///     Some(Finding::Replace { range: start..start + "secret".len(), text: "***".to_owned() })
/// });
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("echo", |request| format!("The secret is {}.", request.last_text()));
/// let agent = ReActAgent::builder("assistant").model(model).hook(mask.input(true)).build()?;
/// assert_eq!(agent.call("a secret thing").await?.text(), "The *** is a *** thing.");
/// assert_eq!(agent.threads().history("default").await?.get(0).unwrap().text(), "a *** thing");
/// # Ok::<(), hooks_agent::error::AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Rewrite {
    source: Source,
    pub(super) places: Places,
    /// The id of rewriters that have none.
    id: Arc<str>,
    /// Whether rewriters per call may ask.
    asks: bool,
}

/// The rewriters of a call.
#[derive(Clone)]
pub(super) struct OfCall {
    pub(super) all: Rewriter,
    /// The one that does not note the texts in which it finds nothing.
    pub(super) changes_only: Rewriter,
}

#[derive(Clone)]
enum Source {
    Fixed(Rewriter),
    PerCall(Arc<dyn Fn(&CallContext) -> Rewriter + Send + Sync>),
}

impl Rewrite {
    /// Creates a hook from the findings of `find`, which holds back `window` characters: see
    /// [`Rewriter::within`].
    pub fn new(
        window: usize,
        find: impl Fn(&str, usize) -> Option<Finding> + Send + Sync + 'static,
    ) -> Self {
        Rewriter::within(window, find).into()
    }

    /// Creates a hook whose rewriter depends on the call. The closure runs at each event; if it
    /// panics, the texts there are blocked.
    pub fn per_call(rewriter: impl Fn(&CallContext) -> Rewriter + Send + Sync + 'static) -> Self {
        Self::of(Source::PerCall(Arc::new(rewriter)))
    }

    fn of(source: Source) -> Self {
        let places =
            Places { input: false, output: true, tool_results: false, tool_arguments: false };
        Self { source, places, id: new_id(), asks: false }
    }

    /// Replaces the rewriter; the places stay.
    #[must_use]
    pub fn with_rewriter(self, rewriter: Rewriter) -> Self {
        Self { source: Source::Fixed(rewriter), id: new_id(), ..self }
    }

    /// Replaces the rewriter by one that depends on the call; the places stay. The closure runs at each
    /// event.
    #[must_use]
    pub fn with_rewriter_per_call(
        self,
        rewriter: impl Fn(&CallContext) -> Rewriter + Send + Sync + 'static,
    ) -> Self {
        Self { source: Source::PerCall(Arc::new(rewriter)), id: new_id(), ..self }
    }

    /// Sets whether rewriters of a call may [ask](Rewriter::asks). Without it, one that asks blocks its texts.
    #[must_use]
    pub fn asking(mut self, asks: bool) -> Self {
        self.asks = asks;
        self
    }

    fn asks(&self) -> bool {
        match &self.source {
            Source::Fixed(rewriter) => rewriter.asks(),
            Source::PerCall(_) => self.asks,
        }
    }

    /// Sets whether texts of the user are rewritten.
    #[must_use]
    pub fn input(mut self, rewrite: bool) -> Self {
        self.places.input = rewrite;
        self
    }

    /// Sets whether texts of the model are rewritten.
    #[must_use]
    pub fn output(mut self, rewrite: bool) -> Self {
        self.places.output = rewrite;
        self
    }

    /// Sets whether the results, errors and progress of tools are rewritten.
    #[must_use]
    pub fn tool_results(mut self, rewrite: bool) -> Self {
        self.places.tool_results = rewrite;
        self
    }

    /// Sets whether the arguments of tool calls of the model are rewritten. Arguments that a person edits
    /// stay as they are.
    #[must_use]
    pub fn tool_arguments(mut self, rewrite: bool) -> Self {
        self.places.tool_arguments = rewrite;
        self
    }

    /// Returns the rewriter of a call, which knows what it has rewritten before.
    #[must_use]
    pub fn rewriter(&self, cx: &CallContext) -> Rewriter {
        self.of_call(cx).all.clone()
    }

    /// Returns the rewriters of a call.
    pub(super) fn of_call(&self, cx: &CallContext) -> Arc<OfCall> {
        let new = || {
            let all = self.remembering(cx);
            let changes_only = all.clone().noting_changes_only();
            Arc::new(OfCall { all, changes_only })
        };
        match &self.source {
            Source::PerCall(_) => new(),
            Source::Fixed(_) => {
                let number = Arc::as_ptr(&self.id).cast::<u8>().addr();
                cx.hook_state::<OnceLock<Arc<OfCall>>>(number).get_or_init(new).clone()
            }
        }
    }

    fn remembering(&self, cx: &CallContext) -> Rewriter {
        let rewriter = match &self.source {
            Source::Fixed(rewriter) => rewriter.clone(),
            Source::PerCall(rewriter) => catch_unwind(AssertUnwindSafe(|| rewriter(cx)))
                .unwrap_or_else(|_| Rewriter::new(Unknown)),
        };
        let (id, threads): (Arc<str>, _) = match (&rewriter.id, &self.source) {
            (Some(id), _) => (id.clone(), InThreads::of(cx)),
            (None, Source::Fixed(_)) => (self.id.clone(), InThreads::of(cx)),
            // Another call may have another rewriter, which finds more.
            (None, Source::PerCall(_)) => {
                (format!("{}/{}", self.id, cx.run_id()).into(), InThreads::none())
            }
        };
        let texts = cx.outermost().hook_state::<CallTexts>(0);
        let rewriter = rewriter.of_agent(cx.shared_agent_name());
        rewriter.remembering(id, texts, Arc::new(threads))
    }

    /// Runs a tool, and rewrites what it gives back by this rewriter in place of its own, for a hook that
    /// knows more about one tool call. A blocked report of progress is dropped.
    ///
    /// # Errors
    /// Those of the tool, rewritten; [`ToolError::Failed`] if the result is blocked.
    pub async fn run_tool(
        &self,
        rewriter: Rewriter,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let rewriter = rewriter.at(TextPlace::ToolResult, Some(&call.tool_use().name));
        let of_progress = rewriter.clone().noting_changes_only();
        // Nobody waits for an answer here.
        let progress = move |text: String| {
            if of_progress.asks() { None } else { of_progress.text(&text).ok() }
        };
        match next.run_with_progress(call.into_tool_use(), progress).await {
            Ok(mut result) => {
                let walk = |rewriter: &_| drop(self.places.result(rewriter, &mut result.clone()));
                let rewriter = rewriter.asked(walk).await;
                match self.places.result(&rewriter, &mut result) {
                    Ok(()) => Ok(result),
                    Err(blocked) => {
                        rewriter.wrote(&blocked.reason);
                        Err(ToolError::Failed(blocked.into()))
                    }
                }
            }
            Err(error) => {
                let walk = |rewriter: &Rewriter| drop(rewritten_error(rewriter, &error));
                let rewriter = rewriter.asked(walk).await;
                Err(tool_error(&rewriter, error, &next))
            }
        }
    }
}

impl ForeignGuard for Rewrite {
    fn screen(&self, cx: &CallContext, foreign: &mut Foreign<'_>) -> Result<(), TextBlocked> {
        let rewriter = self.of_call(cx).all.at(TextPlace::Foreign, Some(foreign.tool));
        output(&rewriter, foreign.content)
    }

    fn waits(&self) -> bool {
        self.asks()
    }

    fn screen_async<'a>(
        &'a self,
        cx: &'a CallContext,
        foreign: &'a mut Foreign<'_>,
    ) -> BoxFuture<'a, Result<(), TextBlocked>> {
        Box::pin(async move {
            let rewriter = self.of_call(cx).all.at(TextPlace::Foreign, Some(foreign.tool));
            let content = &mut *foreign.content;
            let walk = |rewriter: &_| drop(output(rewriter, &mut content.clone()));
            let rewriter = rewriter.asked(walk).await;
            output(&rewriter, content)
        })
    }
}

/// Returns an id that no other hook has.
fn new_id() -> Arc<str> {
    Uuid::new_v4().to_string().into()
}

/// Blocks every text: what is to be rewritten is unknown.
struct Unknown;

impl Find for Unknown {
    fn find(&self, text: &str, from: usize) -> Option<Finding> {
        let reason = "the closure that returns the rewriter panicked".to_owned();
        (from < text.len()).then_some(Finding::Block { range: from..text.len(), reason })
    }

    fn settled(&self, text: &str, _: usize) -> usize {
        text.len()
    }
}

impl From<Rewriter> for Rewrite {
    fn from(rewriter: Rewriter) -> Self {
        Self::of(Source::Fixed(rewriter))
    }
}

impl AgentHook for Rewrite {
    fn priority(&self) -> i32 {
        priority::SECURITY
    }

    fn events(&self) -> EventMask {
        let Places { input, output, tool_results, tool_arguments } = self.places;
        let mut events = EventMask::NONE;
        if input || tool_results {
            events = events | EventKind::PreCall.into();
        }
        if input || tool_results || output || tool_arguments {
            events = events | EventKind::PreReasoning.into() | EventKind::PreSummary.into();
        }
        if output || tool_arguments {
            events = events | EventKind::PostReasoning.into() | EventKind::PostSummary.into();
        }
        if output {
            events = events | EventKind::PostCall.into();
        }
        if tool_results {
            events = events | EventKind::PostActing.into();
        }
        events
    }

    fn sync_events(&self) -> EventMask {
        if self.asks() { EventMask::NONE } else { EventMask::ALL }
    }

    fn role(&self) -> Option<HookRole> {
        Some(HookRole::Redacts)
    }

    fn inherit(&self) -> bool {
        true
    }

    fn foreign_guard(&self) -> Option<Arc<dyn ForeignGuard>> {
        let Places { input, tool_results, .. } = self.places;
        (input || tool_results).then(|| -> Arc<dyn ForeignGuard> { Arc::new(self.clone()) })
    }

    fn always(&self) -> bool {
        true
    }

    fn around(&self) -> AroundMask {
        let Places { output, tool_results, tool_arguments, .. } = self.places;
        let model =
            if output || tool_arguments { AroundMask::MODEL_CALL } else { AroundMask::NONE };
        if tool_results { model | AroundMask::TOOL_CALL } else { model }
    }

    fn on_event_now(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        let rewriters = self.of_call(event.context());
        self.rewrite(event, &rewriters)
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        let rewriters = self.asked(event).await;
        self.rewrite(event, &rewriters)
    }

    async fn around_model_call(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let rewriter = self.rewriter(call.context());
        let Places { output, tool_arguments, .. } = self.places;
        let rewriter = if output { rewriter } else { rewriter.arguments_only() };
        let rewriter = if tool_arguments { rewriter.tool_arguments() } else { rewriter };
        Ok(next.run(call.into_request()).await?.rewrite(rewriter))
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let rewriter = self.rewriter(call.context());
        self.run_tool(rewriter, call, next).await
    }
}

impl fmt::Debug for Rewrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rewrite").field("places", &self.places).finish_non_exhaustive()
    }
}
