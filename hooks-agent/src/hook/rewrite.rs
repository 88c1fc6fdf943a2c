//! Rewrites the answer of a model before hooks, memory and the caller receive it.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use futures::{StreamExt, stream};
use hooks_core::HookRole;

use crate::error::AgentError;
use crate::event::EventMask;
use crate::hook::{AgentHook, AroundMask, ModelCall, NextModel, priority};
use crate::model::{ChatChunk, ChatStream, ModelAnswer, ModelError};

/// A range of a text to replace or block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Replaces the range.
    Replace {
        /// The bytes of the text; not empty, on character boundaries.
        range: Range<usize>,
        /// The replacement.
        text: String,
    },
    /// Ends the answer before the range, with [`ModelError::Blocked`].
    Block {
        /// The bytes of the text; not empty, on character boundaries.
        range: Range<usize>,
        /// The reason, without the text of the range.
        reason: String,
    },
}

impl Finding {
    fn range(&self) -> &Range<usize> {
        match self {
            Self::Replace { range, .. } | Self::Block { range, .. } => range,
        }
    }
}

/// Rewrites the text of an answer while it streams. Changed thoughts lose their signature. Empty
/// chunks are dropped.
///
/// Text that becomes one block of the message is rewritten as one text, as are thoughts. Other
/// chunks between two texts, such as thoughts or a tool call, keep them apart.
///
/// The last `window` characters of the text so far are held back, because a finding in them may
/// still grow or only become one with more text. A found range is never emitted; all other text is
/// emitted once, in order. The result does not depend on how the model splits its text into chunks,
/// provided that a finding at a position depends only on the found text itself and on at most
/// `window` characters after the position.
///
/// `find` receives the text of the block from its start, and the position to search from. It
/// returns the first finding that starts at that position or later. A finding outside of the
/// remaining text ends the answer with [`ModelError::Blocked`].
///
/// It is a hook around the model calls of an agent, at [`priority::SECURITY`].
///
/// ```
/// use hooks_agent::hook::{Finding, Rewrite};
/// use hooks_agent::prelude::*;
///
/// let mask = Rewrite::new(16, |text, from| {
///     let start = from + text[from..].find("secret")?;
///     Some(Finding::Replace { range: start..start + "secret".len(), text: "***".to_owned() })
/// });
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("careless", |_| "The secret word is not secret.");
/// let agent = ReActAgent::builder("assistant").model(model).hook(mask.named("mask")).build()?;
/// assert_eq!(agent.call(Msg::user("Tell me")).await?.text(), "The *** word is not ***.");
/// # Ok::<(), hooks_agent::error::AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Rewrite {
    window: usize,
    find: Arc<Find>,
    rewrites_thinking: bool,
}

type Find = dyn Fn(&str, usize) -> Option<Finding> + Send + Sync;

impl Rewrite {
    /// Creates a rewriter of the findings of `find`, which holds back `window` characters.
    pub fn new(
        window: usize,
        find: impl Fn(&str, usize) -> Option<Finding> + Send + Sync + 'static,
    ) -> Self {
        Self { window, find: Arc::new(find), rewrites_thinking: true }
    }

    /// Leaves the thoughts of the model unchanged.
    #[must_use]
    pub fn text_only(mut self) -> Self {
        self.rewrites_thinking = false;
        self
    }

    /// Rewrites a complete text.
    ///
    /// # Errors
    /// The reason, if a finding blocks the text.
    pub fn text(&self, text: &str) -> Result<String, String> {
        let mut block = Block { text: text.to_owned(), ..Block::default() };
        let (rewritten, blocked) = block.release(self, text.len());
        blocked.map_or(Ok(rewritten), Err)
    }

    /// Rewrites a stream.
    #[must_use]
    pub fn apply(&self, stream: ChatStream) -> ChatStream {
        let rewriting = Rewriting {
            rewrite: self.clone(),
            stream: Some(stream),
            ready: VecDeque::new(),
            kind: Kind::Text,
            block: Block::default(),
            changed_thinking: false,
        };
        Box::pin(stream::unfold(rewriting, |mut this| async move {
            let item = this.next().await?;
            Some((item, this))
        }))
    }
}

impl AgentHook for Rewrite {
    fn priority(&self) -> i32 {
        priority::SECURITY
    }

    fn events(&self) -> EventMask {
        EventMask::NONE
    }

    fn role(&self) -> Option<HookRole> {
        Some(HookRole::Redacts)
    }

    fn around(&self) -> AroundMask {
        AroundMask::MODEL_CALL
    }

    async fn around_model_call(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let answer = next.run(call.into_request()).await?;
        Ok(answer.map_stream(|stream| self.apply(stream)))
    }
}

/// The kind of text in a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
}

struct Rewriting {
    rewrite: Rewrite,
    stream: Option<ChatStream>,
    ready: VecDeque<Result<ChatChunk, ModelError>>,
    kind: Kind,
    block: Block,
    changed_thinking: bool,
}

impl Rewriting {
    async fn next(&mut self) -> Option<Result<ChatChunk, ModelError>> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some(item);
            }
            match self.stream.as_mut()?.next().await? {
                // Nothing would stand between the texts around it.
                Ok(chunk) if is_empty(&chunk) => {}
                Ok(ChatChunk::Text(text)) => self.push(Kind::Text, &text),
                Ok(ChatChunk::Thinking(text)) if self.rewrite.rewrites_thinking => {
                    self.push(Kind::Thinking, &text);
                }
                // Without the signature, what follows joins the block.
                Ok(ChatChunk::Signature(_)) if self.voids_signature() => {}
                Ok(other) => {
                    self.flush();
                    // Nothing follows a blocked text.
                    if self.stream.is_some() {
                        self.ready.push_back(Ok(other));
                    }
                }
                Err(error) => self.ready.push_back(Err(error)),
            }
        }
    }

    fn push(&mut self, kind: Kind, text: &str) {
        if self.kind != kind {
            self.flush();
            self.kind = kind;
        }
        self.block.text.push_str(text);
        let held = self.block.text.char_indices().rev().take(self.rewrite.window).last();
        let limit = if self.rewrite.window == 0 {
            self.block.text.len()
        } else {
            held.map_or(0, |(index, _)| index)
        };
        self.emit(limit);
    }

    /// Returns whether a signature here is dropped: if the thoughts up to it change, as are all
    /// later ones.
    fn voids_signature(&mut self) -> bool {
        if self.kind == Kind::Thinking {
            let mut ended = self.block.clone();
            ended.release(&self.rewrite, self.block.text.len());
            self.changed_thinking |= ended.is_changed;
        }
        self.changed_thinking
    }

    /// Ends the block and emits the text held back.
    fn flush(&mut self) {
        self.emit(self.block.text.len());
        let is_gone = !self.block.text.is_empty() && !self.block.has_said;
        if is_gone && self.stream.is_some() {
            // An empty chunk keeps the adjacent blocks apart.
            self.say(String::new());
        }
        let block = std::mem::take(&mut self.block);
        self.changed_thinking |= self.kind == Kind::Thinking && block.is_changed;
    }

    fn say(&mut self, text: String) {
        self.ready.push_back(Ok(match self.kind {
            Kind::Text => ChatChunk::Text(text),
            Kind::Thinking => ChatChunk::Thinking(text),
        }));
    }

    fn emit(&mut self, limit: usize) {
        if self.stream.is_none() {
            return;
        }
        let (text, blocked) = self.block.release(&self.rewrite, limit);
        if !text.is_empty() {
            self.block.has_said = true;
            self.say(text);
        }
        if let Some(reason) = blocked {
            self.ready.push_back(Err(ModelError::Blocked { reason }));
            self.stream = None;
        }
    }
}

/// Returns whether a chunk has no content.
fn is_empty(chunk: &ChatChunk) -> bool {
    use ChatChunk::{RedactedThinking, Signature, Text, Thinking};
    match chunk {
        Text(text) | Thinking(text) | Signature(text) | RedactedThinking(text) => text.is_empty(),
        _ => false,
    }
}

/// The text of one block from its start, and how much of it has been processed.
#[derive(Clone, Default)]
struct Block {
    text: String,
    sent: usize,
    is_changed: bool,
    /// Whether any of it was emitted.
    has_said: bool,
}

impl Block {
    /// Returns the text that can be emitted, as nothing before `limit` can change, and the reason
    /// if the rest is blocked.
    fn release(&mut self, rewrite: &Rewrite, limit: usize) -> (String, Option<String>) {
        let mut out = String::new();
        let is_end = limit == self.text.len();
        while self.sent < limit {
            let found = (rewrite.find)(&self.text, self.sent);
            // A finding must lie in the remaining text.
            let fits = |range: &Range<usize>| {
                let is_left = range.start >= self.sent && !range.is_empty();
                is_left && self.text.get(range.clone()).is_some()
            };
            // A finder that returns an invalid range may also have missed a valid one.
            if found.as_ref().is_some_and(|finding| !fits(finding.range())) {
                let reason = "the rewriter found something outside of the text that is left";
                return (out, Some(reason.to_owned()));
            }
            let found = found.filter(|finding| finding.range().start < limit);
            let Some(finding) = found else {
                out.push_str(&self.text[self.sent..limit]);
                self.sent = limit;
                break;
            };
            let Range { start, end } = finding.range().clone();
            out.push_str(&self.text[self.sent..start]);
            self.sent = start;
            if end > limit && !is_end {
                break;
            }
            self.is_changed = true;
            match finding {
                Finding::Replace { text, .. } => out.push_str(&text),
                Finding::Block { reason, .. } => return (out, Some(reason)),
            }
            self.sent = end;
        }
        (out, None)
    }
}

impl fmt::Debug for Rewrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rewrite").field("window", &self.window).finish_non_exhaustive()
    }
}
