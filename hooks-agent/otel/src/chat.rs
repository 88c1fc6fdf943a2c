//! The span of a model call.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use std::time::{Instant, SystemTime};

use futures::Stream;
use hooks_agent_core::call::{CallContext, RunId};
use hooks_agent_core::error::AgentError;
use hooks_agent_core::hook::ModelCall;
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{
    ChatChunk, ChatRequest, ChatStream, FinishReason, ModelAnswer, ModelError,
};
use opentelemetry::trace::{SpanKind, TraceContextExt};
use opentelemetry::{Context, KeyValue, StringValue};

use crate::outcome::{self, ErrorType};
use crate::run::{Held, HeldOf, SharedRun, lock, parent_of, release_all};
use crate::shared::{
    Shared, conversation, finish_reasons, set_error, span, texts, usage_attributes,
};
use crate::{content, names};

/// A model call that runs. Its span ends when this is dropped at the latest.
pub(super) struct Chat {
    shared: Arc<Shared>,
    run: SharedRun,
    span: Context,
    started: Instant,
    /// When the last chunk arrived.
    last_chunk: Option<Instant>,
    has_tool_calls: bool,
    is_ended: bool,
    /// The operation, the provider and the model.
    labels: [KeyValue; 3],
    /// The name of the model that answers, or else of the agent's.
    response_model: Arc<str>,
    has_answer: bool,
    content: Vec<KeyValue>,
}

/// Marks the context inside of a model call: the same hook may be registered twice.
struct InChat(RunId);

impl Chat {
    /// Starts the span of a model call, unless another hook does, or an earlier run of the call did.
    pub(super) fn start(shared: &Arc<Shared>, call: &ModelCall<'_>) -> Option<Self> {
        let cx = call.context();
        let run = shared.run(cx).filter(|_| !cx.is_replaying())?;
        if lock(&run).is_inside(|InChat(run)| *run == cx.run_id()) {
            return None;
        }
        let parent = lock(&run).call.clone().unwrap_or_else(|| parent_of(cx));
        let model: Arc<str> = call.model_name().into();
        let provider = KeyValue::new(names::PROVIDER, call.provider());
        let model_attribute = KeyValue::new(names::REQUEST_MODEL, model.clone());
        let operation = KeyValue::new(names::OPERATION, names::CHAT);
        let labels = [operation, provider, model_attribute];
        let mut attributes = attributes(cx, call.request(), &labels);
        attributes.extend(call.server().as_deref().map(server).unwrap_or_default());
        let name = format!("{} {model}", names::CHAT);
        let span = shared.tracer.open(span(name, SpanKind::Client, attributes), &parent);
        let content = content_of(shared, &span, call.request());
        let span = lock(&run).marked(span, || InChat(cx.run_id()));
        let chat = Self {
            content,
            shared: shared.clone(),
            span,
            run,
            started: Instant::now(),
            last_chunk: None,
            has_tool_calls: false,
            is_ended: false,
            labels,
            response_model: model,
            has_answer: false,
        };
        chat.begin();
        Some(chat)
    }

    /// The context to run the model in.
    pub(super) fn context(&self) -> Context {
        self.span.clone()
    }

    fn begin(&self) {
        let run = &mut *lock(&self.run);
        run.inferences += 1;
        run.output = None;
        if run.input.is_empty() {
            let is_said = |it: &&KeyValue| it.key.as_str() != names::TOOL_DEFINITIONS;
            run.input = self.content.iter().filter(is_said).cloned().collect();
        }
        if run.running_chats == 0 {
            // No event followed the answer before.
            let held = run.take_held(|of| matches!(of, HeldOf::Chat { .. }));
            release_all(held, self.shared.capture);
        }
        run.running_chats += 1;
        if let Some(call) = run.call.as_ref().filter(|_| !run.has_model) {
            call.span().set_attributes(self.labels[1..].iter().cloned());
            run.has_model = true;
        }
    }

    /// Goes on with the answer, whose first chunk has arrived.
    pub(super) fn answered(mut self, answer: ModelAnswer) -> ModelAnswer {
        let first_chunk = Instant::now();
        self.has_answer = true;
        if answer.model() != &*self.response_model {
            self.response_model = answer.model().into();
        }
        answer.map_stream(|inner| {
            Box::pin(Watched { inner, chat: self, first_chunk: Some(first_chunk) })
        })
    }

    pub(super) fn fail(mut self, error: &AgentError) {
        self.end(outcome::agent_error(error));
    }

    fn chunk(&mut self, chunk: &ChatChunk, arrived: Option<Instant>) {
        let now = match chunk {
            ChatChunk::End { usage, finish } => return self.finish(*usage, *finish),
            ChatChunk::ToolUse(_) => {
                self.has_tool_calls = true;
                arrived.unwrap_or_else(Instant::now)
            }
            _ => arrived.unwrap_or_else(Instant::now),
        };
        match self.last_chunk.replace(now) {
            Some(last) => {
                let time = now.saturating_duration_since(last);
                self.shared.meters.per_chunk(time, &self.labels);
            }
            None => {
                let time = now.saturating_duration_since(self.started);
                self.shared.meters.first_chunk(time, &self.labels);
                let attribute = KeyValue::new(names::TIME_TO_FIRST_CHUNK, time.as_secs_f64());
                self.span.span().set_attribute(attribute);
            }
        }
    }

    fn finish(&mut self, usage: Usage, finish: FinishReason) {
        let finish = outcome::finish(finish, self.has_tool_calls);
        let span = self.span.span();
        span.set_attribute(finish_reasons(finish));
        span.set_attributes(usage_attributes(usage));
        lock(&self.run).finish = Some(finish);
        if usage != Usage::default() {
            let [operation, provider, model] = self.labels.clone();
            let labels = [operation, provider, model, self.response_model()];
            self.shared.meters.tokens(usage, labels);
        }
        self.end_with(None, Some(finish));
    }

    fn response_model(&self) -> KeyValue {
        KeyValue::new(names::RESPONSE_MODEL, self.response_model.clone())
    }

    fn end(&mut self, error: Option<ErrorType>) {
        self.end_with(error, None);
    }

    /// Ends the span. That of a complete answer waits for the answer as hooks leave it, if content is
    /// exported.
    fn end_with(&mut self, error: Option<ErrorType>, finish: Option<&'static str>) {
        if std::mem::replace(&mut self.is_ended, true) {
            return;
        }
        let ended = SystemTime::now();
        if self.has_answer {
            self.span.span().set_attribute(self.response_model());
        }
        set_error(&self.span, error.clone());
        let time = self.started.elapsed();
        match error {
            None => self.shared.meters.duration(time, &self.labels),
            Some(error) => {
                let [operation, provider, model] = self.labels.clone();
                let error = KeyValue::new(names::ERROR_TYPE, error);
                self.shared.meters.duration(time, &[operation, provider, model, error]);
            }
        }
        let (of, content) = (HeldOf::Chat { finish: finish.unwrap_or("error") }, &mut self.content);
        let held = Held { of, span: self.span.clone(), ended, content: std::mem::take(content) };
        let run = &mut *lock(&self.run);
        run.running_chats -= 1;
        if finish.is_some() && !held.content.is_empty() && !run.is_settled {
            run.held.push(held);
        } else {
            held.release(self.shared.capture);
        }
    }
}

/// Ends the span of an answer that was not read to its end.
impl Drop for Chat {
    fn drop(&mut self) {
        self.end(std::thread::panicking().then_some(outcome::PANIC));
    }
}

/// The stream of an answer, each poll in the context of its span.
struct Watched {
    inner: ChatStream,
    chat: Chat,
    /// When the first chunk arrived, until it is read.
    first_chunk: Option<Instant>,
}

impl Stream for Watched {
    type Item = Result<ChatChunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let polled = {
            let _active = this.chat.context().attach();
            this.inner.as_mut().poll_next(task)
        };
        match &polled {
            Poll::Pending => {}
            Poll::Ready(Some(Ok(chunk))) => this.chat.chunk(chunk, this.first_chunk.take()),
            Poll::Ready(Some(Err(error))) => this.chat.end(Some(outcome::model_error(error))),
            Poll::Ready(None) => this.chat.end(Some(outcome::MODEL_CUT)),
        }
        polled
    }
}

/// Returns the server of an endpoint such as `https://api.example.org` or `http://[::1]:8080`.
fn server(endpoint: &str) -> Vec<KeyValue> {
    let (scheme, place) = endpoint.split_once("://").unwrap_or(("https", endpoint));
    let usual = if scheme == "http" { 80 } else { 443 };
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().unwrap_or(usual)),
        _ => (place, usual),
    };
    let host = host.trim_matches(['[', ']']).to_owned();
    vec![KeyValue::new(names::SERVER_ADDRESS, host), KeyValue::new(names::SERVER_PORT, port)]
}

fn attributes(cx: &CallContext, request: &ChatRequest, labels: &[KeyValue]) -> Vec<KeyValue> {
    let options = &request.options;
    let mut attributes = Vec::with_capacity(16);
    attributes.extend_from_slice(labels);
    attributes.push(KeyValue::new(names::STREAM, true));
    let max_tokens = options.max_tokens.map(i64::from);
    attributes.extend(max_tokens.map(|tokens| KeyValue::new(names::MAX_TOKENS, tokens)));
    attributes.extend(options.temperature.map(|it| KeyValue::new(names::TEMPERATURE, it)));
    attributes.extend(options.top_p.map(|it| KeyValue::new(names::TOP_P, it)));
    if !options.stop.is_empty() {
        let stop: Vec<StringValue> = options.stop.iter().map(|stop| stop.clone().into()).collect();
        attributes.push(texts(names::STOP_SEQUENCES, stop));
    }
    attributes.extend(conversation(cx));
    attributes
}

/// Returns the content of a request, if it is exported: hooks that redact have run.
fn content_of(shared: &Shared, span: &Context, request: &ChatRequest) -> Vec<KeyValue> {
    if !shared.capture.is_on() || !span.span().is_recording() {
        return Vec::new();
    }
    let (messages, limit) = (&request.messages, shared.limit);
    let system = content::system(messages.iter(), limit);
    let tools = content::tools(&request.tools, limit);
    let mut content = Vec::with_capacity(4);
    content.extend(system.map(|text| KeyValue::new(names::SYSTEM_INSTRUCTIONS, text)));
    content.push(KeyValue::new(names::INPUT_MESSAGES, content::input(messages.iter(), limit)));
    content.extend(tools.map(|text| KeyValue::new(names::TOOL_DEFINITIONS, text)));
    content
}
