//! A streamed answer, released segment by segment.

use std::sync::Arc;

use agent_hooks::InterceptionPoint;
use futures::{StreamExt, stream};
use hooks_agent_core::call::CallContext;
use hooks_agent_core::message::ToolUse;
use hooks_agent_core::model::{ChatChunk, ChatStream, FinishReason, ModelAnswer, ModelError};
use serde_json::Value;

use crate::context::response::{Answer, finish_name};
use crate::host::blocked::Blocked;
use crate::host::emission::At;
use crate::host::held::Held;
use crate::host::interceptors::{Host, Segment};
use crate::host::points::answer::{Asked, end_of};
use crate::host::session::Session;

/// The reason why an answer ended, of a segment that is not the last one.
const INCREMENTAL: &str = "incremental";

/// A streamed answer, released in segments.
///
/// One segment is held back until more comes: the verdict over the last one has the reason why the answer ended.
pub(super) struct Segments {
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
    /// Whether what was released last was text, which text goes on with.
    is_in_text: bool,
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
    pub(super) fn new(
        host: Arc<Host>,
        session: Arc<Session>,
        cx: CallContext,
        asked: Asked,
        segment: Segment,
    ) -> Self {
        let held = session.held();
        if let Some(held) = &held {
            held.begin_answer();
        }
        Self {
            host,
            session,
            cx,
            asked,
            segment,
            held,
            answer: Answer::default(),
            waiting: Vec::new(),
            in_segment: 0,
            released: 0,
            is_in_text: false,
            ready: Vec::new(),
            end: End::Open,
        }
    }

    /// Releases an answer in segments.
    pub(super) fn release_all(self, answer: ModelAnswer) -> ModelAnswer {
        answer.map_stream(|rest| self.over(rest))
    }

    fn over(self, rest: ChatStream) -> ChatStream {
        Box::pin(stream::unfold((self, rest), |(mut segments, mut rest)| async move {
            let next = segments.next(&mut rest).await?;
            Some((next, (segments, rest)))
        }))
    }

    async fn next(&mut self, rest: &mut ChatStream) -> Option<Result<ChatChunk, ModelError>> {
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
                return Some(Err(ModelError::blocked_by(blocked)));
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
                    || matches!(self.waiting.last(), Some(ChatChunk::Text(text)) if text.contains('\n'))
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
        if let Some(last) = released.last() {
            self.is_in_text = matches!(last, ChatChunk::Text(_));
        }
        self.answer.set_in_text(self.is_in_text);
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
        if response.as_object().is_none_or(|fields| fields.len() != 3) {
            return Err(refuse(self, "response"));
        }
        let content = match &response["content"] {
            Value::String(text) => text.as_str(),
            Value::Null => "",
            _ => return Err(refuse(self, "response.content")),
        };
        let Some(rest) = content.strip_prefix(&self.answer.text[..self.released]) else {
            return Err(refuse(self, "response.content: text before it was released"));
        };
        let rest = rest.to_owned();
        // Text behind something else is on a line of its own, in the message.
        let is_on_new_line = self.released > 0 && !self.is_in_text && !rest.is_empty();
        let text = match rest.strip_prefix('\n') {
            Some(text) if is_on_new_line => text,
            None if is_on_new_line => {
                return Err(refuse(self, "response.content: what was released ends a line"));
            }
            _ => &rest,
        };
        let mut new = Vec::new();
        // The line begins with the text that comes.
        let rest = if text.is_empty() { String::new() } else { rest.clone() };
        if !text.is_empty() {
            new.push(ChatChunk::Text(text.to_owned()));
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
