//! Events that are passed on, and their content.

use std::sync::Arc;

use hooks_agent_core::error::{AgentError, ErrorKind};
use hooks_agent_core::event::{EventKind, EventMask, HookEvent};
use hooks_agent_core::message::{ContentBlock, Msg, ToolResult};
use hooks_agent_core::stream::AgentEventKind;
use hooks_agent_core::tool::ToolError;

use crate::answer::streaming::run::Run;
use crate::answer::streaming::stream_type::StreamType;

/// Types of events that are passed on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selection {
    types: u8,
    /// Whether chunks have all of the text so far.
    pub(super) accumulates: bool,
}

impl Selection {
    pub(super) const fn all() -> Self {
        Self { types: u8::MAX, accumulates: false }
    }

    pub(super) fn select(&mut self, types: impl IntoIterator<Item = StreamType>) {
        self.types = types.into_iter().fold(0, |mask, one| mask | bit(one));
    }

    pub(super) const fn passes(self, one: StreamType) -> bool {
        self.types & bit(one) != 0
    }

    /// Returns the events that the types are made of, and those of the end.
    pub(super) fn events(self) -> EventMask {
        let wanted = [
            (&[StreamType::Text, StreamType::Thinking][..], EventKind::ReasoningChunk),
            (&[StreamType::Text, StreamType::Thinking], EventKind::SummaryChunk),
            (&[StreamType::ToolStarted, StreamType::ToolChunk], EventKind::PreActing),
            (&[StreamType::ToolChunk], EventKind::ActingChunk),
            (
                &[StreamType::ToolStarted, StreamType::ToolChunk, StreamType::ToolFinished],
                EventKind::PostActing,
            ),
        ];
        let end = EventMask::of(&[EventKind::PostCall, EventKind::Error, EventKind::Settled]);
        let wanted =
            wanted.into_iter().filter(|(types, _)| types.iter().any(|one| self.passes(*one)));
        wanted.fold(end, |mask, (_, kind)| mask | kind.into())
    }

    /// Returns what is passed on of an event, and keeps what a later one needs.
    pub(super) fn kind_of(
        self,
        event: &HookEvent<'_>,
        run: impl Fn() -> Arc<Run>,
    ) -> Option<AgentEventKind> {
        match event {
            HookEvent::ReasoningChunk(event) => {
                let piece = self.piece(event.incremental(), event.accumulated())?;
                Some(AgentEventKind::ReasoningChunk(piece))
            }
            HookEvent::SummaryChunk(event) => {
                let piece = self.piece(event.incremental(), event.accumulated())?;
                Some(AgentEventKind::SummaryChunk(piece))
            }
            HookEvent::PreActing(event) => {
                run().keep_call(event.tool_use());
                None
            }
            HookEvent::ActingChunk(event) => {
                let call = run().shown(event.tool_use());
                Some(AgentEventKind::ToolChunk { call, text: event.chunk().to_owned() })
            }
            HookEvent::PostActing(event) => {
                let (call, result) = (event.tool_use(), event.tool_result());
                run().forget_call(&call.id);
                // The text alone: the arguments that ran may be what a vault put back.
                let shown = if result.is_error { ToolResult::error } else { ToolResult::success };
                let shown = shown(call, result.output.as_str().to_owned());
                self.passes(StreamType::ToolFinished).then_some(AgentEventKind::ToolFinished(shown))
            }
            HookEvent::PostCall(event) => {
                run().set_reply(&event.context().shown_answer(event.final_message()));
                None
            }
            HookEvent::Error(event) => {
                // The model reads the error of a tool; it does not fail the call.
                if !event.error().is::<ToolError>() {
                    let error = event.error().downcast_ref::<AgentError>();
                    run().set_error(error.map_or(ErrorKind::Other, AgentError::kind));
                }
                None
            }
            _ => None,
        }
    }

    fn piece(self, piece: &ContentBlock, accumulated: &Msg) -> Option<ContentBlock> {
        let (one, is_empty) = match piece {
            ContentBlock::Text { text } => (StreamType::Text, text.is_empty()),
            ContentBlock::Thinking { thinking, .. } => (StreamType::Thinking, thinking.is_empty()),
            _ => return None,
        };
        // An empty text keeps apart what stands around it.
        if is_empty || !self.passes(one) {
            return None;
        }
        Some(match one {
            _ if !self.accumulates => piece.clone(),
            StreamType::Text => ContentBlock::text(accumulated.text()),
            _ => ContentBlock::thinking(thoughts(accumulated)),
        })
    }
}

const fn bit(one: StreamType) -> u8 {
    1 << one as u8
}

/// Returns the thoughts of an answer.
fn thoughts(msg: &Msg) -> String {
    let thoughts = msg.content.iter().filter_map(|block| match block {
        ContentBlock::Thinking { thinking, .. } if !thinking.is_empty() => Some(thinking.as_str()),
        _ => None,
    });
    thoughts.collect::<Vec<_>>().join("\n")
}
