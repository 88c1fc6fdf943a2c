//! Counts the tokens of requests and answers.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures::Stream;

use crate::model::answer::ModelAnswer;
use crate::model::chat::{ChatChunk, ChatRequest, ChatStream};
use crate::model::error::ModelError;
use crate::model::token_counter::{QUARTERS, TokenCounter};
use crate::usage::Usage;

/// The tokens of one request and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenCount {
    /// The tokens.
    pub usage: Usage,
    /// Whether one of the numbers is an estimate, because the provider reported none or the answer
    /// did not end.
    pub is_estimated: bool,
}

impl TokenCount {
    /// Estimates the tokens of a request whose answer has this many quarters of tokens.
    fn estimate(request: &ChatRequest, answer: u64) -> Self {
        let usage = Usage::new(request.estimate_tokens(), answer.div_ceil(QUARTERS));
        Self { usage, is_estimated: true }
    }

    /// Fills the numbers that the provider did not report.
    fn of(reported: Usage, request: &ChatRequest, answer: u64) -> Self {
        let has_input = reported.input_tokens > 0;
        let has_output = reported.output_tokens > 0 || answer == 0;
        if has_input && has_output {
            return Self { usage: reported, is_estimated: false };
        }
        let mut count = Self::estimate(request, answer);
        if has_input {
            count.usage.input_tokens = reported.input_tokens;
        }
        if has_output {
            count.usage.output_tokens = reported.output_tokens;
        }
        count
    }
}

impl ChatRequest {
    /// Estimates the tokens of the request: its messages and tools, by
    /// [`TokenCounter::approximate`].
    ///
    /// ```
    /// use hooks_agent::message::Msg;
    /// use hooks_agent::model::ChatRequest;
    ///
    /// assert_eq!(ChatRequest::new(Msg::user("How are you?")).estimate_tokens(), 3);
    /// ```
    #[must_use]
    pub fn estimate_tokens(&self) -> u64 {
        let counter = TokenCounter::approximate();
        counter.count(&self.messages) + counter.count_tools(&*self.tools)
    }
}

impl ModelAnswer {
    /// Counts the tokens of the answer and of its request. `counted` runs once: when the answer
    /// ends, fails, or is dropped. What the provider does not report is estimated, by
    /// [`TokenCounter::approximate`].
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// use futures::StreamExt;
    /// use hooks_agent::model::{ChatRequest, ModelAnswer, ScriptedModel};
    /// # use hooks_agent::message::Msg;
    ///
    /// # futures::executor::block_on(async {
    /// let (sender, receiver) = mpsc::channel();
    /// let model = ScriptedModel::new("silent", |_| "I am fine.");
    /// let request = ChatRequest::new(Msg::user("How are you?"));
    /// let answer = ModelAnswer::ask(&model, request.clone()).await?;
    /// let mut answer = answer.count_tokens(&request, move |count| drop(sender.send(count)));
    /// while answer.next().await.is_some() {}
    /// let count = receiver.recv()?;
    /// assert_eq!((count.usage.total_tokens(), count.is_estimated), (6, true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn count_tokens(
        self,
        request: &ChatRequest,
        counted: impl FnOnce(TokenCount) + Send + 'static,
    ) -> Self {
        let (request, counted) = (request.clone(), Some(Box::new(counted) as Box<Counted>));
        self.map_stream(|rest| Box::pin(Counting { rest, request, quarters: 0, counted }))
    }
}

impl ModelError {
    /// Counts the tokens of a request whose answer is of no use, if there was one: it was
    /// [empty](Self::Empty). What the provider does not report is estimated, as by
    /// [`ModelAnswer::count_tokens`].
    ///
    /// ```
    /// use hooks_agent::message::{Msg, Usage};
    /// use hooks_agent::model::{ChatRequest, ModelError};
    ///
    /// let request = ChatRequest::new(Msg::user("How are you?"));
    /// let empty = ModelError::empty("gpt-99", Usage::new(70, 20));
    /// assert_eq!(empty.count_tokens(&request).map(|count| count.usage.total_tokens()), Some(90));
    /// assert_eq!(ModelError::status("gpt-99", 429).count_tokens(&request), None);
    /// ```
    #[must_use]
    pub fn count_tokens(&self, request: &ChatRequest) -> Option<TokenCount> {
        let Self::Empty { usage, .. } = self else { return None };
        Some(TokenCount::of(*usage, request, 0))
    }
}

type Counted = dyn FnOnce(TokenCount) + Send;

/// A stream whose tokens are counted.
struct Counting {
    rest: ChatStream,
    request: ChatRequest,
    /// The quarters of tokens of the answer so far.
    quarters: u64,
    counted: Option<Box<Counted>>,
}

impl Counting {
    fn end(&mut self, reported: Option<Usage>) {
        if let Some(counted) = self.counted.take() {
            counted(match reported {
                Some(usage) => TokenCount::of(usage, &self.request, self.quarters),
                None => TokenCount::estimate(&self.request, self.quarters),
            });
        }
    }
}

impl Stream for Counting {
    type Item = Result<ChatChunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.rest.as_mut().poll_next(cx);
        match &polled {
            Poll::Ready(Some(Ok(ChatChunk::End { usage, .. }))) => self.end(Some(*usage)),
            Poll::Ready(Some(Ok(chunk))) => self.quarters += quarters(chunk),
            Poll::Ready(Some(Err(_)) | None) => self.end(None),
            Poll::Pending => {}
        }
        polled
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        self.end(None);
    }
}

fn quarters(chunk: &ChatChunk) -> u64 {
    let counter = TokenCounter::approximate();
    match chunk {
        ChatChunk::Text(text) | ChatChunk::Thinking(text) => counter.quarters(text),
        ChatChunk::RedactedThinking(data) => data.len() as u64,
        ChatChunk::ToolUse(call) => {
            counter.quarters(&call.name) + counter.quarters_of_json(&call.input)
        }
        ChatChunk::Signature(_) | ChatChunk::End { .. } => 0,
    }
}
