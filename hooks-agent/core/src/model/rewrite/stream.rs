//! A stream of chunks while it is rewritten.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures::Stream;

use crate::model::chat::{ChatChunk, ChatStream};
use crate::model::error::ModelError;
use crate::model::rewrite::block::Block;
use crate::model::rewrite::find::Find;
use crate::model::rewrite::rewriter::Rewriter;

/// Rewrites a stream, from its first chunk on. Earlier rewriters win over later ones where findings
/// are of equal length.
pub(in crate::model) fn rewritten(
    first: Option<ChatChunk>,
    stream: ChatStream,
    rewriters: Vec<Rewriter>,
) -> ChatStream {
    let finders = |kind: Kind| {
        let rewriters = rewriters.iter().filter(|rewriter| kind.is_of(rewriter));
        rewriters.map(|rewriter| rewriter.find.clone()).collect()
    };
    let mut rewriting = Rewriting {
        finders: [finders(Kind::Text), finders(Kind::Thinking)],
        rewriters,
        stream: Some(stream),
        ready: VecDeque::new(),
        kind: Kind::Text,
        block: Block::default(),
        has_said: false,
        changed_thinking: false,
    };
    if let Some(first) = first {
        rewriting.take(Ok(first));
    }
    Box::pin(rewriting)
}

/// The kind of text in a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
}

impl Kind {
    /// Returns whether the rewriter rewrites texts of this kind.
    fn is_of(self, rewriter: &Rewriter) -> bool {
        match self {
            Self::Text => rewriter.rewrites_text,
            Self::Thinking => rewriter.rewrites_thinking,
        }
    }
}

struct Rewriting {
    rewriters: Vec<Rewriter>,
    /// The finders of each kind of text.
    finders: [Vec<Arc<dyn Find>>; 2],
    stream: Option<ChatStream>,
    ready: VecDeque<Result<ChatChunk, ModelError>>,
    kind: Kind,
    block: Block,
    /// Whether any of the block was emitted.
    has_said: bool,
    changed_thinking: bool,
}

impl Stream for Rewriting {
    type Item = Result<ChatChunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Poll::Ready(Some(item));
            }
            let Some(stream) = &mut self.stream else { return Poll::Ready(None) };
            match ready!(stream.as_mut().poll_next(cx)) {
                Some(item) => self.take(item),
                None => {
                    self.flush();
                    self.stream = None;
                }
            }
        }
    }
}

impl Rewriting {
    /// Takes the next item of the stream.
    fn take(&mut self, item: Result<ChatChunk, ModelError>) {
        match item {
            // Nothing would stand between the texts around it.
            Ok(chunk) if chunk.is_empty() => {}
            Ok(ChatChunk::Text(text)) => self.push(Kind::Text, text),
            Ok(ChatChunk::Thinking(text)) if !self.finders[Kind::Thinking as usize].is_empty() => {
                self.push(Kind::Thinking, text);
            }
            // Without the signature, what follows joins the block.
            Ok(ChatChunk::Signature(_)) if self.voids_signature() => {}
            Ok(other) => self.pass(other),
            Err(error) => self.ready.push_back(Err(error)),
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

    /// Adds a text, and emits what is settled in its place.
    fn push(&mut self, kind: Kind, mut text: String) {
        if self.kind != kind {
            self.flush();
            self.kind = kind;
        }
        self.block.text.push_str(&text);
        let limit = self.block.settled(&self.finders[kind as usize]);
        text.clear();
        self.emit(limit, text);
    }

    /// Returns whether a signature here is dropped: if the thoughts up to it change, as are all
    /// later ones.
    fn voids_signature(&mut self) -> bool {
        if self.kind == Kind::Thinking {
            self.changed_thinking |= self.block.changes(&self.finders[self.kind as usize]);
        }
        self.changed_thinking
    }

    /// Ends the block and emits the text held back.
    fn flush(&mut self) {
        self.emit(self.block.text.len(), String::new());
        let is_gone = !self.block.text.is_empty() && !self.has_said;
        if is_gone && self.stream.is_some() {
            // An empty chunk keeps the adjacent blocks apart.
            self.say(String::new());
        }
        let block = std::mem::take(&mut self.block);
        if let Some(said) = block.said() {
            let rewriters = self.rewriters.iter().filter(|rewriter| self.kind.is_of(rewriter));
            for searched in rewriters.filter_map(|rewriter| rewriter.searched.as_ref()) {
                searched.wrote(&block.text, said);
            }
        }
        self.has_said = false;
        self.changed_thinking |= self.kind == Kind::Thinking && block.said().is_some();
    }

    fn say(&mut self, text: String) {
        self.ready.push_back(Ok(match self.kind {
            Kind::Text => ChatChunk::Text(text),
            Kind::Thinking => ChatChunk::Thinking(text),
        }));
    }

    /// Emits the text up to `limit`, in a buffer that is empty.
    fn emit(&mut self, limit: usize, mut text: String) {
        if self.stream.is_none() || !self.block.is_before(limit) {
            return;
        }
        let finders = &self.finders[self.kind as usize];
        let blocked = self.block.release(finders, limit, &mut text);
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
