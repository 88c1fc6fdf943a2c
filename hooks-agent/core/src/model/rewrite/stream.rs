//! A stream of chunks while it is rewritten.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures::future::join_all;
use futures::{FutureExt, Stream};
use hooks_core::BoxFuture;

use crate::message::ToolUse;
use crate::model::chat::{ChatChunk, ChatStream};
use crate::model::error::ModelError;
use crate::model::rewrite::answers::PartAnswers;
use crate::model::rewrite::block::Block;
use crate::model::rewrite::rewriter::Rewriter;
use crate::model::rewrite::used::{Finder, TextPlace};

/// Rewrites a stream, from its first chunk on. Earlier rewriters win over later ones where findings
/// are of equal length.
pub(in crate::model) fn rewritten(
    first: Option<ChatChunk>,
    stream: ChatStream,
    rewriters: Vec<Rewriter>,
) -> ChatStream {
    let searches = [Search::of(Kind::Text, &rewriters), Search::of(Kind::Thinking, &rewriters)];
    Box::pin(Rewriting {
        searches,
        rewriters,
        stream: Some(stream),
        next: first.map(|first| Some(Ok(first))),
        waiting: None,
        ready: VecDeque::new(),
        kind: Kind::Text,
        block: Block::default(),
        has_said: false,
        changed_thinking: false,
    })
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

    fn place(self) -> TextPlace {
        match self {
            Self::Text => TextPlace::Output,
            Self::Thinking => TextPlace::Thinking,
        }
    }
}

/// Who searches the texts of one kind.
struct Search {
    finders: Vec<Finder>,
    /// Those of them that ask.
    asked: Vec<Arc<PartAnswers>>,
}

impl Search {
    fn of(kind: Kind, rewriters: &[Rewriter]) -> Self {
        let mut search = Self { finders: Vec::new(), asked: Vec::new() };
        for rewriter in rewriters.iter().filter(|rewriter| kind.is_of(rewriter)) {
            let finder = rewriter.at(kind.place(), None).finder();
            if let Some(answers) = &rewriter.answers {
                let asked = Arc::new(PartAnswers::new(answers.by.clone()));
                let at = finder.at.clone();
                search.finders.extend([finder, Finder { find: asked.clone(), at }]);
                search.asked.push(asked);
            } else {
                search.finders.push(finder);
            }
        }
        search
    }
}

/// An item of the stream, or its end.
type Next = Option<Result<ChatChunk, ModelError>>;

/// What the stream waits for.
enum Waiting {
    /// Parts of the block are asked about.
    Parts(BoxFuture<'static, ()>),
    /// All that is left of thoughts is asked about, which a signature is of if they do not change. Else they go
    /// on, and what was asked about from these places on is asked about again with what follows.
    Signature(BoxFuture<'static, ()>, Vec<usize>),
    /// The arguments of a tool call are rewritten.
    Call(BoxFuture<'static, Result<ToolUse, String>>),
}

struct Rewriting {
    rewriters: Vec<Rewriter>,
    /// Who searches each kind of text.
    searches: [Search; 2],
    stream: Option<ChatStream>,
    /// What comes next, if it is known.
    next: Option<Next>,
    waiting: Option<Waiting>,
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
            ready!(self.poll_waiting(cx));
            if !self.ready.is_empty() {
                continue;
            }
            if self.next.is_none()
                && self.stream.is_some()
                && let Some(parts) = self.ask(false)
            {
                self.waiting = Some(Waiting::Parts(parts));
                continue;
            }
            let next = match (self.next.take(), &mut self.stream) {
                (_, None) => return Poll::Ready(None),
                (Some(next), _) => next,
                (None, Some(stream)) => ready!(stream.as_mut().poll_next(cx)),
            };
            let is_end = self.ends_block(next.as_ref());
            let is_signature = is_end && matches!(next, Some(Ok(ChatChunk::Signature(_))));
            let before: Vec<_> = self.search().asked.iter().map(|asked| asked.until()).collect();
            if let Some(parts) = self.ask(is_end) {
                self.waiting = Some(if is_signature {
                    Waiting::Signature(parts, before)
                } else {
                    Waiting::Parts(parts)
                });
                self.next = Some(next);
                continue;
            }
            match next {
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
    fn search(&self) -> &Search {
        &self.searches[self.kind as usize]
    }

    /// Waits for what was asked.
    fn poll_waiting(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.waiting {
            None => {}
            Some(Waiting::Parts(parts)) => {
                ready!(parts.as_mut().poll(cx));
                self.waiting = None;
                let limit = self.block.settled(&self.searches[self.kind as usize].finders);
                self.emit(limit, String::new());
            }
            Some(Waiting::Signature(parts, _)) => {
                ready!(parts.as_mut().poll(cx));
                let Some(Waiting::Signature(_, before)) = self.waiting.take() else {
                    return Poll::Ready(());
                };
                if self.block.changes(&self.search().finders) {
                    self.changed_thinking = true;
                    for (asked, until) in self.search().asked.iter().zip(before) {
                        asked.go_back(until);
                    }
                } else {
                    let limit = self.block.settled(&self.searches[self.kind as usize].finders);
                    self.emit(limit, String::new());
                }
            }
            Some(Waiting::Call(call)) => {
                let call = ready!(call.as_mut().poll(cx));
                self.waiting = None;
                match call {
                    Ok(call) => self.ready.push_back(Ok(ChatChunk::ToolUse(call))),
                    Err(reason) => self.block_with(ModelError::blocked(reason)),
                }
            }
        }
        Poll::Ready(())
    }

    /// Returns whether an item ends the block.
    fn ends_block(&self, next: Option<&Result<ChatChunk, ModelError>>) -> bool {
        match next {
            Some(Err(_)) => false,
            Some(Ok(chunk)) if chunk.is_empty() => false,
            Some(Ok(ChatChunk::Text(_))) => self.kind != Kind::Text,
            Some(Ok(ChatChunk::Thinking(_))) => self.kind != Kind::Thinking,
            // It is dropped.
            Some(Ok(ChatChunk::Signature(_))) if self.is_changed() => false,
            Some(Ok(_)) | None => true,
        }
    }

    /// Returns whether thoughts are known to change, so that a signature of them is dropped.
    fn is_changed(&self) -> bool {
        self.changed_thinking || self.kind == Kind::Thinking && self.block.said().is_some()
    }

    /// Begins to ask about the complete parts of the block, and about all that is left of it at its end.
    fn ask(&self, is_end: bool) -> Option<BoxFuture<'static, ()>> {
        let text = &self.block.text;
        let asking = self.search().asked.iter().filter_map(|asked| {
            let parts = asked.parts(text, is_end);
            let parts: Vec<_> =
                parts.into_iter().map(|range| (range.clone(), text[range].to_owned())).collect();
            let asked = asked.clone();
            (!parts.is_empty()).then_some(async move { asked.ask(parts).await })
        });
        let asking: Vec<_> = asking.collect();
        (!asking.is_empty()).then(|| join_all(asking).map(drop).boxed())
    }

    /// Takes the next item of the stream.
    fn take(&mut self, item: Result<ChatChunk, ModelError>) {
        match item {
            // Nothing would stand between the texts around it.
            Ok(chunk) if chunk.is_empty() => {}
            Ok(ChatChunk::Text(text)) => self.push(Kind::Text, text),
            Ok(ChatChunk::Thinking(text))
                if !self.searches[Kind::Thinking as usize].finders.is_empty() =>
            {
                self.push(Kind::Thinking, text);
            }
            // Without the signature, what follows joins the block.
            Ok(ChatChunk::Signature(_)) if self.voids_signature() => {}
            Ok(ChatChunk::ToolUse(call)) => self.pass_call(call),
            Ok(other) => self.pass(other),
            Err(error) => self.ready.push_back(Err(error)),
        }
    }

    /// Emits a chunk that ends the block.
    fn pass(&mut self, chunk: ChatChunk) {
        self.flush();
        // Nothing follows a blocked text.
        if self.stream.is_some() {
            self.ready.push_back(Ok(chunk));
        }
    }

    /// Emits a tool call, rewritten.
    fn pass_call(&mut self, mut call: ToolUse) {
        self.flush();
        let rewriters = self.rewriters.iter().filter(|rewriter| rewriter.rewrites_arguments);
        let rewriters: Vec<_> = rewriters.collect();
        if self.stream.is_some() && rewriters.iter().any(|rewriter| rewriter.asks()) {
            let rewriters = rewriters.into_iter().cloned().collect();
            self.waiting = Some(Waiting::Call(rewritten_call(rewriters, call).boxed()));
            return;
        }
        for rewriter in rewriters {
            if let Err(reason) = rewriter.tool_use(&mut call) {
                return self.block_with(ModelError::blocked(reason));
            }
        }
        if self.stream.is_some() {
            self.ready.push_back(Ok(ChatChunk::ToolUse(call)));
        }
    }

    /// Adds a text, and emits what is settled in its place.
    fn push(&mut self, kind: Kind, mut text: String) {
        if self.kind != kind {
            self.flush();
            self.kind = kind;
        }
        self.block.text.push_str(&text);
        let limit = self.block.settled(&self.searches[kind as usize].finders);
        text.clear();
        self.emit(limit, text);
    }

    /// Returns whether a signature here is dropped: if the thoughts up to it change, as are all
    /// later ones.
    fn voids_signature(&mut self) -> bool {
        if self.kind == Kind::Thinking && !self.is_changed() {
            self.changed_thinking = self.block.changes(&self.search().finders);
        }
        self.is_changed()
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
        for asked in &self.search().asked {
            asked.clear();
        }
        if self.stream.is_none() {
            // What was blocked is not decided on.
            return;
        }
        for rewriter in self.rewriters.iter().filter(|rewriter| self.kind.is_of(rewriter)) {
            let Some(searched) = &rewriter.searched else { continue };
            match block.said() {
                Some(said) => searched.wrote(&block.text, said),
                // The parts were asked about: as a whole, there may be more in it, which was shown.
                None if rewriter.asks() && !block.text.is_empty() => {
                    searched.unchanged(&block.text);
                }
                None => {}
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
        let finders = &self.searches[self.kind as usize].finders;
        let blocked = self.block.release(finders, limit, &mut text);
        if !text.is_empty() {
            self.has_said = true;
            self.say(text);
        }
        if let Some(reason) = blocked {
            self.block_with(ModelError::blocked(reason));
        }
    }

    fn block_with(&mut self, error: ModelError) {
        self.ready.push_back(Err(error));
        self.stream = None;
    }
}

/// Rewrites the arguments of a tool call, one rewriter after the other.
async fn rewritten_call(rewriters: Vec<Rewriter>, mut call: ToolUse) -> Result<ToolUse, String> {
    for rewriter in rewriters {
        let rewriter = rewriter.asked(|rewriter| drop(rewriter.tool_use(&mut call.clone()))).await;
        rewriter.tool_use(&mut call)?;
    }
    Ok(call)
}
