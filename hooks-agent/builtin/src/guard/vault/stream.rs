//! The stream of a call with data in place of tokens.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::Stream;

use crate::guard::vault::in_call::{InCall, Revealed};
use crate::guard::vault::token::open_token;
use crate::guard::vault::vault::Vault;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::message::{ContentBlock, Msg};
use hooks_agent_core::stream::{AgentEvent, AgentEventKind, AgentStream};

/// The events of a call with the data of a vault in place of its tokens, as
/// [`Vault::reveal_stream`] makes it.
#[must_use = "the call runs while the stream is read"]
pub struct RevealedStream<'a> {
    events: AgentStream<'a>,
    vault: Vault,
    /// The last chunk of each call that is answered, with the end of its text that may be the beginning
    /// of a token.
    held: Vec<AgentEvent>,
    ready: VecDeque<Result<AgentEvent, AgentError>>,
}

impl Vault {
    /// Returns the events of a call with the data in place of the tokens of its thread, in what the agent
    /// says: chunks and messages, texts and thoughts, those of sub-agents too. A token that arrives in
    /// parts is held back until it is whole, and nothing else is. Other tokens stay, and so do those in
    /// tool calls, their results, questions and warnings, which are as the model has them.
    ///
    /// For the program, which streams an answer to its user: what it reads must go to nobody who may not
    /// see the data.
    ///
    /// ```
    /// use futures::StreamExt;
    /// use hooks_agent::builtin::guard::{PiiDetection, Vault};
    /// use hooks_agent::prelude::*;
    ///
    /// # futures::executor::block_on(async {
    /// let vault = Vault::new();
    /// let model = ScriptedModel::new("echo", |request| request.last_text());
    /// let hook = PiiDetection::email().vault(vault.clone());
    /// let agent = ReActAgent::builder("clerk").model(model).hook(hook).build()?;
    /// let mut events = vault.reveal_stream(agent.stream("Write to ada@example.com today"));
    /// let mut shown = String::new();
    /// while let Some(event) = events.next().await {
    ///     if let AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) = event?.kind {
    ///         shown.push_str(&text);
    ///     }
    /// }
    /// assert_eq!(shown, "Write to ada@example.com today");
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    pub fn reveal_stream<'a>(&self, events: AgentStream<'a>) -> RevealedStream<'a> {
        RevealedStream { events, vault: self.clone(), held: Vec::new(), ready: VecDeque::new() }
    }
}

impl RevealedStream<'_> {
    fn take(&mut self, mut event: AgentEvent) {
        let thread = self.vault.in_call(self.events.context());
        if text_of(&mut event.kind).is_some() {
            return self.take_chunk(&thread, event);
        }
        // What comes while the model answers ends no chunk.
        let goes_on = matches!(
            event.kind,
            AgentEventKind::Warning { .. }
                | AgentEventKind::ToolChunk { .. }
                | AgentEventKind::Queued { .. }
        );
        if !goes_on {
            self.release(|held| held.run == event.run);
        }
        match &mut event.kind {
            AgentEventKind::Reasoned(msg)
            | AgentEventKind::Summarized(msg)
            | AgentEventKind::Finished(msg) => reveal(&thread, msg),
            _ => {}
        }
        self.ready.push_back(Ok(event));
    }

    fn take_chunk(&mut self, thread: &InCall, mut event: AgentEvent) {
        self.release(|held| held.run == event.run && !is_same_text(&held.kind, &event.kind));
        let held = self.held.iter().position(|held| held.run == event.run);
        let held = held.map(|index| self.held.swap_remove(index));
        let Some(text) = text_of(&mut event.kind) else { return };
        if let Some(mut held) = held
            && let Some(before) = text_of(&mut held.kind)
        {
            text.insert_str(0, before);
        }
        let rest = text.split_off(open_token(text).unwrap_or(text.len()));
        let is_shown = !text.is_empty() || rest.is_empty();
        if let Some(shown) = thread.text(text, &mut Revealed::default()) {
            *text = shown;
        }
        if !rest.is_empty() {
            let mut held = event.clone();
            if let Some(text) = text_of(&mut held.kind) {
                *text = rest;
            }
            self.held.push(held);
        }
        if is_shown {
            self.ready.push_back(Ok(event));
        }
    }

    /// Passes on what is held back and begins no token.
    fn release(&mut self, is_over: impl Fn(&AgentEvent) -> bool) {
        let over = self.held.extract_if(.., |held| is_over(held));
        self.ready.extend(over.map(Ok));
    }
}

impl Stream for RevealedStream<'_> {
    type Item = Result<AgentEvent, AgentError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(event) = this.ready.pop_front() {
                return Poll::Ready(Some(event));
            }
            match Pin::new(&mut this.events).poll_next(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(event))) => this.take(event),
                Poll::Ready(Some(Err(error))) => {
                    this.release(|_| true);
                    this.ready.push_back(Err(error));
                }
                Poll::Ready(None) => {
                    this.release(|_| true);
                    if this.ready.is_empty() {
                        return Poll::Ready(None);
                    }
                }
            }
        }
    }
}

impl fmt::Debug for RevealedStream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RevealedStream").field("events", &self.events).finish_non_exhaustive()
    }
}

/// Returns the text of a chunk, if it is one of text or thoughts.
fn text_of(kind: &mut AgentEventKind) -> Option<&mut String> {
    match kind {
        AgentEventKind::ReasoningChunk(block) | AgentEventKind::SummaryChunk(block) => {
            match block {
                ContentBlock::Text { text } => Some(text),
                ContentBlock::Thinking { thinking, .. } => Some(thinking),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns whether two chunks are parts of one text.
fn is_same_text(one: &AgentEventKind, other: &AgentEventKind) -> bool {
    use AgentEventKind::{ReasoningChunk, SummaryChunk};
    match (one, other) {
        (ReasoningChunk(one), ReasoningChunk(other)) | (SummaryChunk(one), SummaryChunk(other)) => {
            std::mem::discriminant(one) == std::mem::discriminant(other)
        }
        _ => false,
    }
}

/// Puts data in place of the tokens in a message.
fn reveal(thread: &InCall, msg: &mut Arc<Msg>) {
    for index in 0..msg.content.len() {
        let text = match &msg.content[index] {
            ContentBlock::Text { text } => text,
            ContentBlock::Thinking { thinking, .. } => thinking,
            _ => continue,
        };
        let Some(shown) = thread.text(text, &mut Revealed::default()) else { continue };
        match &mut Arc::make_mut(msg).content[index] {
            ContentBlock::Text { text } => *text = shown,
            ContentBlock::Thinking { thinking, signature } => {
                *thinking = shown;
                // It is of the thoughts as the model wrote them.
                *signature = None;
            }
            _ => {}
        }
    }
}
