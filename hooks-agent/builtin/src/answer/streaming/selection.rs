//! Which events are passed on, and what of them.

use std::sync::Arc;

use crate::answer::streaming::event::{StreamEventKind, StreamType};
use crate::answer::streaming::run::Run;
use hooks_agent_core::event::{EventKind, EventMask, HookEvent};
use hooks_agent_core::message::{ContentBlock, Msg};
use hooks_agent_core::tool::ToolError;

/// Which events are passed on, and what of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selection {
    types: u16,
    /// Whether chunks have all of the text so far.
    pub(super) accumulates: bool,
}

impl Selection {
    pub(super) const fn all() -> Self {
        Self { types: u16::MAX, accumulates: false }
    }

    /// Selects these types, and those that are always passed on.
    pub(super) fn select(&mut self, types: impl IntoIterator<Item = StreamType>) {
        let always = [StreamType::Settled, StreamType::Lagged];
        self.types = types.into_iter().chain(always).fold(0, |mask, one| mask | bit(one));
    }

    pub(super) const fn passes(self, one: StreamType) -> bool {
        self.types & bit(one) != 0
    }

    /// Returns the events that the types are made of.
    pub(super) fn events(self) -> EventMask {
        let wanted = [
            (&[StreamType::Text, StreamType::Thinking][..], EventKind::ReasoningChunk),
            (&[StreamType::Text, StreamType::Thinking], EventKind::SummaryChunk),
            (&[StreamType::ToolStarted], EventKind::PreActing),
            (&[StreamType::ToolProgress], EventKind::ActingChunk),
            (&[StreamType::ToolStarted, StreamType::ToolFinished], EventKind::PostActing),
            (&[StreamType::Reply], EventKind::PostCall),
            (&[StreamType::Failed], EventKind::Error),
        ];
        let wanted =
            wanted.into_iter().filter(|(types, _)| types.iter().any(|one| self.passes(*one)));
        wanted.fold(EventKind::Settled.into(), |mask, (_, kind)| mask | kind.into())
    }

    /// Returns what is passed on of an event.
    pub(super) fn kind_of(
        self,
        event: &HookEvent<'_>,
        run: impl Fn() -> Arc<Run>,
    ) -> Option<StreamEventKind> {
        let kind = match event {
            HookEvent::ReasoningChunk(event) => {
                self.chunk(event.incremental(), event.accumulated())
            }
            HookEvent::SummaryChunk(event) => self.chunk(event.incremental(), event.accumulated()),
            HookEvent::PreActing(event) if self.passes(StreamType::ToolStarted) => {
                run().keep_input(event.tool_use());
                None
            }
            HookEvent::ActingChunk(event) => {
                let (call, text) = (event.tool_use(), event.chunk().to_owned());
                let (id, name) = (call.id.clone(), call.name.clone());
                Some(StreamEventKind::ToolProgress { id, name, text })
            }
            HookEvent::PostActing(event) => {
                let (call, result) = (event.tool_use(), event.tool_result());
                run().forget_input(&call.id);
                Some(StreamEventKind::ToolFinished {
                    id: call.id.clone(),
                    name: call.name.clone(),
                    output: result.output.as_str().to_owned(),
                    is_error: result.is_error,
                })
            }
            HookEvent::PostCall(event) => {
                run().set_reply(event.final_message());
                Some(StreamEventKind::Reply(Box::new(event.final_message().clone())))
            }
            HookEvent::Error(event) => {
                // The model reads the error of a tool; it does not fail the call.
                if !event.error().is::<ToolError>() {
                    run().set_error(event.error_kind());
                }
                None
            }
            _ => None,
        };
        kind.filter(|kind| self.passes(kind.stream_type()))
    }

    fn chunk(self, piece: &ContentBlock, accumulated: &Msg) -> Option<StreamEventKind> {
        match piece {
            // It keeps apart what stands around it.
            ContentBlock::Text { text } if text.is_empty() => None,
            ContentBlock::Text { .. } if self.accumulates => {
                Some(StreamEventKind::Text(accumulated.text()))
            }
            ContentBlock::Text { text } => Some(StreamEventKind::Text(text.clone())),
            ContentBlock::Thinking { .. } if self.accumulates => {
                Some(StreamEventKind::Thinking(thoughts(accumulated)))
            }
            ContentBlock::Thinking { thinking, .. } if !thinking.is_empty() => {
                Some(StreamEventKind::Thinking(thinking.clone()))
            }
            _ => None,
        }
    }
}

const fn bit(one: StreamType) -> u16 {
    1 << one as u16
}

/// Returns the thoughts of an answer.
fn thoughts(msg: &Msg) -> String {
    let thoughts = msg.content.iter().filter_map(|block| match block {
        ContentBlock::Thinking { thinking, .. } if !thinking.is_empty() => Some(thinking.as_str()),
        _ => None,
    });
    thoughts.collect::<Vec<_>>().join("\n")
}
