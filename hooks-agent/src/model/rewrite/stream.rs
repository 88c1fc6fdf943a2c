//! A stream of chunks while it is rewritten.

use std::collections::VecDeque;

use futures::{StreamExt, stream};

use crate::model::rewrite::block::Block;
use crate::model::rewrite::find::Find;
use crate::model::rewrite::rewriter::Rewriter;
use crate::model::{ChatChunk, ChatStream, ModelError};

/// Rewrites a stream. Earlier rewriters win over later ones where findings are of equal length.
pub(in crate::model) fn rewritten(stream: ChatStream, rewriters: Vec<Rewriter>) -> ChatStream {
    let rewriting = Rewriting {
        rewriters,
        stream: Some(stream),
        ready: VecDeque::new(),
        kind: Kind::Text,
        block: Block::default(),
        has_said: false,
        changed_thinking: false,
    };
    Box::pin(stream::unfold(rewriting, |mut this| async move {
        let item = this.next().await?;
        Some((item, this))
    }))
}

/// The kind of text in a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
}

struct Rewriting {
    rewriters: Vec<Rewriter>,
    stream: Option<ChatStream>,
    ready: VecDeque<Result<ChatChunk, ModelError>>,
    kind: Kind,
    block: Block,
    /// Whether any of the block was emitted.
    has_said: bool,
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
                Ok(ChatChunk::Thinking(text)) if self.rewrites_thinking() => {
                    self.push(Kind::Thinking, &text);
                }
                // Without the signature, what follows joins the block.
                Ok(ChatChunk::Signature(_)) if self.voids_signature() => {}
                Ok(other) => self.pass(other),
                Err(error) => self.ready.push_back(Err(error)),
            }
        }
    }

    /// Emits a chunk that ends the block.
    fn pass(&mut self, mut chunk: ChatChunk) {
        self.flush();
        if let ChatChunk::ToolUse(call) = &mut chunk {
            let rewriters = self.rewriters.iter().filter(|rewriter| rewriter.rewrites_arguments);
            for rewriter in rewriters {
                if let Err(reason) = rewriter.tool_use(call) {
                    return self.block_with(ModelError::Blocked { reason });
                }
            }
        }
        // Nothing follows a blocked text.
        if self.stream.is_some() {
            self.ready.push_back(Ok(chunk));
        }
    }

    fn rewrites_thinking(&self) -> bool {
        self.rewriters.iter().any(|rewriter| rewriter.rewrites_thinking)
    }

    fn push(&mut self, kind: Kind, text: &str) {
        if self.kind != kind {
            self.flush();
            self.kind = kind;
        }
        self.block.text.push_str(text);
        let limit = self.block.settled(finders(&self.rewriters, kind));
        self.emit(limit);
    }

    /// Returns whether a signature here is dropped: if the thoughts up to it change, as are all
    /// later ones.
    fn voids_signature(&mut self) -> bool {
        if self.kind == Kind::Thinking {
            let mut ended = self.block.clone();
            let finders: Vec<_> = finders(&self.rewriters, self.kind).collect();
            let end = ended.text.len();
            ended.release(&finders, end);
            self.changed_thinking |= ended.is_changed;
        }
        self.changed_thinking
    }

    /// Ends the block and emits the text held back.
    fn flush(&mut self) {
        self.emit(self.block.text.len());
        let is_gone = !self.block.text.is_empty() && !self.has_said;
        if is_gone && self.stream.is_some() {
            // An empty chunk keeps the adjacent blocks apart.
            self.say(String::new());
        }
        let block = std::mem::take(&mut self.block);
        self.has_said = false;
        self.changed_thinking |= self.kind == Kind::Thinking && block.is_changed;
    }

    fn say(&mut self, text: String) {
        self.ready.push_back(Ok(match self.kind {
            Kind::Text => ChatChunk::Text(text),
            Kind::Thinking => ChatChunk::Thinking(text),
        }));
    }

    fn emit(&mut self, limit: usize) {
        if self.stream.is_none() || !self.block.is_before(limit) {
            return;
        }
        let (text, blocked) = match &*self.rewriters {
            // One finder needs no list.
            [only] if only.rewrites_text && only.rewrites_thinking => {
                self.block.release(&[&*only.find], limit)
            }
            rewriters => {
                let finders: Vec<_> = finders(rewriters, self.kind).collect();
                self.block.release(&finders, limit)
            }
        };
        if !text.is_empty() {
            self.has_said = true;
            self.say(text);
        }
        if let Some(reason) = blocked {
            self.block_with(ModelError::Blocked { reason });
        }
    }

    fn block_with(&mut self, error: ModelError) {
        self.ready.push_back(Err(error));
        self.stream = None;
    }
}

/// Returns the finders for a kind of text.
fn finders(rewriters: &[Rewriter], kind: Kind) -> impl Iterator<Item = &dyn Find> {
    let applies = move |rewriter: &&Rewriter| match kind {
        Kind::Text => rewriter.rewrites_text,
        Kind::Thinking => rewriter.rewrites_thinking,
    };
    rewriters.iter().filter(applies).map(|rewriter| &*rewriter.find)
}

/// Returns whether a chunk has no content.
fn is_empty(chunk: &ChatChunk) -> bool {
    use ChatChunk::{RedactedThinking, Signature, Text, Thinking};
    match chunk {
        Text(text) | Thinking(text) | Signature(text) | RedactedThinking(text) => text.is_empty(),
        _ => false,
    }
}
