//! A call with a typed answer, as a stream.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::{Stream, StreamExt};
use serde::de::DeserializeOwned;

use crate::answer::structured_output::error::StructuredOutputError;
use crate::answer::structured_output::hook::StructuredOutput;
use crate::answer::structured_output::schema::answer_schema::AnswerSchema;
use crate::answer::structured_output::schema::extract::beginning;
use crate::answer::structured_output::typed::partial::{Arrived, Partial, read_partial};
use crate::answer::structured_output::typed::text::TextSoFar;
use crate::answer::structured_output::typed::value::Typed;
use hooks_agent_core::call::RunId;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::message::ContentBlock;
use hooks_agent_core::stream::{AgentEvent, AgentEventKind, AgentStream};

/// How often an answer is searched for the begin of its JSON, for each byte of it: one that has many
/// brackets before would otherwise take time in proportion to its square.
const MOST_WORK: usize = 64;

/// A call with a typed answer, as a stream of what has arrived of it. The last item is
/// [complete](Partial::complete), or the error of the call.
///
/// The text is what the stream of the call has: what a [`Rewrite`](hooks_agent_core::hook::Rewrite) removes is not in
/// it. The call runs while the stream is polled; dropping it cancels the call. There is an item for each
/// chunk from the begin of the JSON on; the JSON is parsed when an item is [looked at](Partial::value).
///
/// ```
/// use futures::StreamExt;
/// use hooks_agent::builtin::answer::TypedCalls;
/// use hooks_agent::prelude::*;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Poem {
///     title: String,
///     lines: u32,
/// }
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("poet", |_| r#"{"title": "On rust", "lines": 4}"#);
/// let agent = ReActAgent::builder("poet").model(model).build()?;
/// let mut poem = agent.stream_typed::<Poem>("A poem, please");
/// let mut titles = Vec::new();
/// while let Some(partial) = poem.next().await {
///     let partial = partial?;
///     titles.extend(partial.get("/title").and_then(|title| title.as_str()).map(str::to_owned));
///     if let Some(poem) = partial.complete() {
///         assert_eq!((poem.title.as_str(), poem.lines), ("On rust", 4));
///     }
/// }
/// titles.dedup();
/// assert_eq!(titles, ["On ", "On rust"]);
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[must_use = "the call runs while the stream is read"]
pub struct TypedStream<T> {
    state: State,
    text: TextSoFar,
    attempt: u32,
    run: Option<RunId>,
    /// Whether there is JSON in the answer.
    has_begun: bool,
    /// Up to where no JSON begins.
    searched: usize,
    /// How many bytes were searched, each search from the start of the answer.
    work: usize,
    of: PhantomData<fn() -> T>,
}

enum State {
    Running(StructuredOutput, AgentStream<'static>),
    Failed(Box<StructuredOutputError>),
    Over,
}

impl<T> TypedStream<T> {
    pub(super) fn new(output: StructuredOutput, events: AgentStream<'static>) -> Self {
        Self::of(State::Running(output, events))
    }

    pub(super) fn failed(error: StructuredOutputError) -> Self {
        Self::of(State::Failed(Box::new(error)))
    }

    fn of(state: State) -> Self {
        let of = PhantomData;
        let text = TextSoFar::default();
        Self { state, text, attempt: 0, run: None, has_begun: false, searched: 0, work: 0, of }
    }
}

impl<T: DeserializeOwned> TypedStream<T> {
    /// Reads the stream to its end and returns the value.
    ///
    /// # Errors
    /// Those of [`StructuredOutput::call`].
    pub async fn finish(mut self) -> Result<Typed<T>, StructuredOutputError> {
        while let Some(partial) = self.next().await {
            if let Some(typed) = partial?.into_typed() {
                return Ok(typed);
            }
        }
        Err(StructuredOutputError::Agent(AgentError::Interrupted))
    }

    /// Searches for the begin of JSON, if there is a bracket that was not searched before.
    fn search(&mut self, schema: &AnswerSchema) {
        let (searched, length) = (self.searched, self.text.len());
        if self.work > MOST_WORK.saturating_mul(length) {
            return;
        }
        self.work += length - searched;
        (self.has_begun, self.searched) = self.text.read(|text| {
            if !text[searched..].contains(['{', '[']) {
                return (false, length);
            }
            self.work += searched;
            let Some(begin) = beginning(text, schema.opening()) else { return (false, length) };
            match read_partial(text, begin, schema) {
                Arrived::Nothing => (false, searched),
                Arrived::Value(_) => (true, searched),
                Arrived::Unreadable => (false, length),
            }
        });
    }

    /// Takes an event of the call, and returns its item.
    fn item_of(
        &mut self,
        output: &StructuredOutput,
        event: AgentEvent,
    ) -> Option<Result<Partial<T>, StructuredOutputError>> {
        // The first event is of this call, others may be of sub-agents.
        if *self.run.get_or_insert(event.run) != event.run {
            return None;
        }
        match event.kind {
            AgentEventKind::ReasoningStarted => {
                self.text = TextSoFar::default();
                (self.has_begun, self.searched, self.work) = (false, 0, 0);
                self.attempt += 1;
                None
            }
            AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) => {
                self.text.push(&text);
                let schema = output.schema();
                // White space begins nothing.
                if !self.has_begun && !text.trim().is_empty() {
                    self.search(schema);
                }
                self.has_begun.then(|| Ok(Partial::new(self.text.clone(), schema, self.attempt)))
            }
            AgentEventKind::Finished(reply) => {
                let reply = Arc::unwrap_or_clone(reply);
                Some(output.typed(reply).map(|typed| {
                    let answer = output.schema().read(&typed.reply.text());
                    let value = answer.map(|answer| answer.value).unwrap_or_default();
                    let text = TextSoFar::default();
                    let partial = Partial::new(text, output.schema(), self.attempt);
                    partial.with_typed(value, typed)
                }))
            }
            _ => None,
        }
    }
}

impl<T: DeserializeOwned> Stream for TypedStream<T> {
    type Item = Result<Partial<T>, StructuredOutputError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            match std::mem::replace(&mut self.state, State::Over) {
                State::Over => return Poll::Ready(None),
                State::Failed(error) => return Poll::Ready(Some(Err(*error))),
                State::Running(output, mut events) => {
                    let Poll::Ready(event) = events.poll_next_unpin(cx) else {
                        self.state = State::Running(output, events);
                        return Poll::Pending;
                    };
                    let item = match event {
                        None => return Poll::Ready(None),
                        Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
                        Some(Ok(event)) => self.item_of(&output, event),
                    };
                    let is_last = matches!(&item, Some(Err(_)))
                        || matches!(&item, Some(Ok(partial)) if partial.is_complete());
                    if !is_last {
                        self.state = State::Running(output, events);
                    }
                    if item.is_some() {
                        return Poll::Ready(item);
                    }
                }
            }
        }
    }
}

impl<T> fmt::Debug for TypedStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedStream").field("attempt", &self.attempt).finish_non_exhaustive()
    }
}
