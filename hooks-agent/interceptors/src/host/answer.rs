//! An attempt to have an answer of a model: its request, and its answer as a whole or in segments.

use std::sync::Arc;

use agent_hooks::{AgentContext, HostError, InterceptionPoint};
use futures::{StreamExt, stream};
use hooks_agent_core::call::CallContext;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::hook::{ModelAttempt, NextAttempt};
use hooks_agent_core::message::ToolUse;
use hooks_agent_core::model::{ChatChunk, ChatRequest, FinishReason, ModelAnswer, ModelError};
use serde_json::{Value, json};

use crate::context::message::{all_back, all_of};
use crate::context::response::{Answer, finish_name};
use crate::host::blocked::Blocked;
use crate::host::call::set_thinking;
use crate::host::emission::At;
use crate::host::held::Held;
use crate::host::interceptors::{Host, Output, Segment};
use crate::host::session::Session;

/// The reason why an answer ended, of a segment that is not the last one.
const INCREMENTAL: &str = "incremental";

/// The same of a stream that broke off.
const INCOMPLETE: &str = "stream_incomplete";

/// The model that is asked, in contexts.
#[derive(Clone)]
struct Asked {
    name: String,
    model: Value,
    request_id: String,
}

impl Host {
    /// Refuses an attempt outside of a session.
    pub(super) fn refuse_attempt(&self, attempt: &ModelAttempt<'_>) -> Blocked {
        let (session, cx) = (Session::of(attempt.context()), attempt.context());
        let asked = Asked::of(attempt, &session);
        let messages = all_of(&attempt.request().messages);
        let reason = HostError::AdapterUnsupported;
        let at = At { host: self, session: &session, cx };
        at.deny(InterceptionPoint::PreModelCall, reason, messages, |context, messages| {
            asked.fill(context);
            context.insert("messages".to_owned(), messages.clone());
        })
    }

    /// Runs an attempt.
    pub(super) async fn run_attempt(
        self: Arc<Self>,
        session: Arc<Session>,
        attempt: ModelAttempt<'_>,
        next: NextAttempt<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let cx = attempt.context().clone();
        let asked = Asked::of(&attempt, &session);
        let request = {
            let at = At { host: &self, session: &session, cx: &cx };
            let request = at.request(&asked, attempt.into_request()).await;
            request.map_err(|blocked| next.fail(blocked))?
        };
        let answer = next.run(request).await?;
        let segment = match self.output {
            Output::Incremental { segment } if self.is_enforcing() => segment,
            _ => {
                let at = At { host: &self, session: &session, cx: &cx };
                return at.whole(&asked, answer, next).await;
            }
        };
        if let Some(held) = session.held() {
            held.begin_answer();
        }
        let segments = Segments {
            held: session.held(),
            host: self,
            session,
            cx,
            asked,
            segment,
            answer: Answer::default(),
            waiting: Vec::new(),
            in_segment: 0,
            released: 0,
            ready: Vec::new(),
            end: End::Open,
        };
        Ok(answer.map_stream(|rest| segments.over(rest)))
    }
}

impl At<'_> {
    /// Asks about a request.
    async fn request(
        self,
        asked: &Asked,
        mut request: ChatRequest,
    ) -> Result<ChatRequest, Blocked> {
        let tools: Vec<_> = request
            .tools
            .iter()
            .map(|tool| {
                json!({ "name": tool.name, "description": tool.description, "schema": tool.schema })
            })
            .collect();
        let messages = all_of(&request.messages);
        let changed = self.ask(InterceptionPoint::PreModelCall, messages, |context, messages| {
            asked.fill(context);
            context.insert("messages".to_owned(), messages.clone());
            context.insert("tools".to_owned(), Value::Array(tools));
        });
        if let Some(context) = changed.await? {
            request.messages = all_back(&context["messages"], &request.messages)
                .map_err(|path| self.fail(InterceptionPoint::PreModelCall, path))?;
        }
        Ok(request)
    }

    /// Reads an answer to its end and asks about it.
    async fn whole(
        self,
        asked: &Asked,
        mut answer: ModelAnswer,
        next: NextAttempt<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let (mut read, mut chunks) = (Answer::default(), Vec::new());
        let finish = loop {
            match answer.next().await {
                None => return Err(next.fail(self.broken_off(asked, &read))),
                // The provider's error: there is no answer to ask about.
                Some(Err(error)) => return Err(error.into()),
                Some(Ok(chunk)) => {
                    read.add(&chunk);
                    if read.bytes > self.host.most_bytes && self.host.is_enforcing() {
                        self.cx.add_usage(read.usage);
                        let detail = format!("response: more than {} bytes", self.host.most_bytes);
                        return Err(next.fail(self.fail(InterceptionPoint::PostModelCall, detail)));
                    }
                    let end = end_of(&chunk);
                    chunks.push(chunk);
                    if let Some(finish) = end {
                        break finish;
                    }
                }
            }
        };
        let changed = self.response(asked, &read, finish_name(finish)).await;
        let changed = match changed {
            Ok(None) => None,
            Ok(Some(context)) => read
                .back(&context["response"], finish)
                .map_err(|path| self.fail(InterceptionPoint::PostModelCall, path))
                .map_err(|blocked| self.discard(&read, blocked, next))?,
            Err(blocked) => return Err(self.discard(&read, blocked, next)),
        };
        let chunks = changed.unwrap_or(chunks).into_iter().map(Ok);
        Ok(answer.map_stream(|_| Box::pin(stream::iter(chunks))))
    }

    /// The answer is not used; it was paid for.
    fn discard(self, read: &Answer, blocked: Blocked, next: NextAttempt<'_>) -> AgentError {
        self.cx.add_usage(read.usage);
        next.fail(blocked)
    }

    /// Asks about an answer up to here.
    async fn response(
        self,
        asked: &Asked,
        read: &Answer,
        finish: &str,
    ) -> Result<Option<AgentContext>, Blocked> {
        let response = read.response(finish);
        let changed = self.ask(InterceptionPoint::PostModelCall, response, |context, response| {
            asked.fill(context);
            context.insert("response".to_owned(), response.clone());
            context.insert(
                "usage".to_owned(),
                json!({
                    "prompt_tokens": read.usage.input_tokens,
                    "completion_tokens": read.usage.output_tokens,
                }),
            );
            set_thinking(context, &read.thinking);
        });
        changed.await
    }

    /// Denies what no verdict covers of a stream that broke off.
    fn broken_off(self, asked: &Asked, read: &Answer) -> Blocked {
        let (reason, response) = (HostError::StreamingUnsupported, read.response(INCOMPLETE));
        self.deny(InterceptionPoint::PostModelCall, reason, response, |context, response| {
            asked.fill(context);
            context.insert("response".to_owned(), response.clone());
        })
    }
}

impl Asked {
    fn of(attempt: &ModelAttempt<'_>, session: &Session) -> Self {
        let name = attempt.model_name();
        let model = json!({ "id": name, "vendor": attempt.provider() });
        Self { name: name.to_owned(), model, request_id: session.next_attempt() }
    }

    fn fill(&self, context: &mut AgentContext) {
        context.insert("model".to_owned(), self.model.clone());
        context.insert("request_id".to_owned(), json!(self.request_id));
    }
}

fn end_of(chunk: &ChatChunk) -> Option<FinishReason> {
    match chunk {
        ChatChunk::End { finish, .. } => Some(*finish),
        _ => None,
    }
}

/// A streamed answer, released in segments.
///
/// One segment is held back until more comes: the verdict over the last one has the reason why the answer ended.
struct Segments {
    host: Arc<Host>,
    session: Arc<Session>,
    cx: CallContext,
    asked: Asked,
    segment: Segment,
    held: Option<Arc<Held>>,
    /// All that was read.
    answer: Answer,
    /// What no verdict covers yet.
    waiting: Vec<ChatChunk>,
    /// The bytes of what waits.
    in_segment: usize,
    /// How many bytes of the text were released.
    released: usize,
    /// What a verdict has released, last first.
    ready: Vec<ChatChunk>,
    end: End,
}

#[derive(PartialEq, Eq)]
enum End {
    Open,
    /// What is ready is all that there is.
    Reached,
}

impl Segments {
    fn over(
        self,
        rest: hooks_agent_core::model::ChatStream,
    ) -> hooks_agent_core::model::ChatStream {
        Box::pin(stream::unfold((self, rest), |(mut segments, mut rest)| async move {
            let next = segments.next(&mut rest).await?;
            Some((next, (segments, rest)))
        }))
    }

    async fn next(
        &mut self,
        rest: &mut hooks_agent_core::model::ChatStream,
    ) -> Option<Result<ChatChunk, ModelError>> {
        loop {
            if let Some(chunk) = self.ready.pop() {
                return Some(Ok(chunk));
            }
            if self.end == End::Reached {
                return None;
            }
            let released = match rest.next().await {
                Some(Err(error)) => {
                    self.end = End::Reached;
                    return Some(Err(error));
                }
                None => Err(self.at().broken_off(&self.asked, &self.answer)),
                Some(Ok(chunk)) => self.read(chunk).await,
            };
            if let Err(blocked) = released {
                self.end = End::Reached;
                self.waiting.clear();
                self.cx.add_usage(self.answer.usage);
                return Some(Err(ModelError::other(&*self.asked.name, blocked)));
            }
        }
    }

    /// Reads a chunk, and asks about the segment before it if it is full.
    async fn read(&mut self, chunk: ChatChunk) -> Result<(), Blocked> {
        if let Some(finish) = end_of(&chunk) {
            self.answer.add(&chunk);
            self.waiting.push(chunk);
            self.end = End::Reached;
            return self.release(finish_name(finish), Some(finish)).await;
        }
        if self.is_full() {
            self.release(INCREMENTAL, None).await?;
        }
        self.answer.add(&chunk);
        if self.answer.bytes > self.host.most_bytes {
            let detail = format!("response: more than {} bytes", self.host.most_bytes);
            return Err(self.at().fail(InterceptionPoint::PostModelCall, detail));
        }
        if let ChatChunk::Text(text) | ChatChunk::Thinking(text) = &chunk {
            self.in_segment += text.len();
        }
        self.waiting.push(chunk);
        Ok(())
    }

    fn is_full(&self) -> bool {
        match self.segment {
            _ if self.waiting.is_empty() => false,
            Segment::Chunk => true,
            Segment::Line { most } => {
                self.in_segment >= most
                    || matches!(self.waiting.last(), Some(ChatChunk::Text(text)) if text.ends_with('\n'))
            }
        }
    }

    /// Asks about all that was read, and releases what waits.
    async fn release(&mut self, name: &str, finish: Option<FinishReason>) -> Result<(), Blocked> {
        let changed = self.at().response(&self.asked, &self.answer, name).await?;
        let mut released = std::mem::take(&mut self.waiting);
        self.in_segment = 0;
        if let Some(context) = changed {
            let response = &context["response"];
            if *response != self.answer.response(name) {
                released = self.changed(response, released, finish)?;
            }
        }
        self.released = self.answer.text.len();
        if let Some(held) = &self.held {
            held.permit(&released);
        }
        released.reverse();
        self.ready = released;
        Ok(())
    }

    /// Returns what a transform makes of a segment. What was released before stays as it is: a transform that changes
    /// it comes too late, and is refused.
    fn changed(
        &mut self,
        response: &Value,
        released: Vec<ChatChunk>,
        finish: Option<FinishReason>,
    ) -> Result<Vec<ChatChunk>, Blocked> {
        let refuse =
            |segments: &Self, path| segments.at().fail(InterceptionPoint::PostModelCall, path);
        let content = response["content"].as_str().unwrap_or_default();
        let Some(rest) = content.strip_prefix(&self.answer.text[..self.released]) else {
            return Err(refuse(self, "response.content: text before it was released"));
        };
        let rest = rest.to_owned();
        let mut new = Vec::new();
        if !rest.is_empty() {
            new.push(ChatChunk::Text(rest.clone()));
        }
        let has_calls = |chunk: &ChatChunk| matches!(chunk, ChatChunk::ToolUse(_));
        match finish {
            None => {
                let before = self.answer.response(INCREMENTAL);
                let is_same = |field: &str| response[field] == before[field];
                if !is_same("tool_calls") || !is_same("finish_reason") {
                    return Err(refuse(
                        self,
                        "response: only its content may change before its end",
                    ));
                }
                new.extend(released.into_iter().filter(has_calls));
            }
            Some(finish) => {
                let chunks =
                    self.answer.back(response, finish).map_err(|path| refuse(self, path))?;
                let before = released.iter().filter(|chunk| has_calls(chunk)).count();
                let sent = self.answer.calls.len() - before;
                let calls: Vec<_> =
                    chunks.iter().flatten().filter(|chunk| has_calls(chunk)).collect();
                let is_sent = |(call, chunk): (&ToolUse, &&ChatChunk)| match chunk {
                    ChatChunk::ToolUse(changed) => changed == call,
                    _ => false,
                };
                if calls.len() < sent || !self.answer.calls[..sent].iter().zip(&calls).all(is_sent)
                {
                    return Err(refuse(self, "response.tool_calls: some were released"));
                }
                new.extend(calls[sent..].iter().copied().cloned());
                let end = chunks.iter().flatten().find(|chunk| end_of(chunk).is_some()).cloned();
                new.push(end.unwrap_or(ChatChunk::End { usage: self.answer.usage, finish }));
            }
        }
        // What comes next is behind the changed text.
        self.answer.text.truncate(self.released);
        self.answer.text.push_str(&rest);
        Ok(new)
    }

    fn at(&self) -> At<'_> {
        At { host: &self.host, session: &self.session, cx: &self.cx }
    }
}
