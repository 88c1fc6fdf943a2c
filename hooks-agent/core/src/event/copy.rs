//! Copies of events, for hooks that see them without the call.

use std::sync::Arc;

use crate::agent::{Agent, CallOutcome};
use crate::call::CallContext;
use crate::error::AgentError;
use crate::event::acting::{PostActing, PreActing};
use crate::event::call::{PostCall, PreCall, Settled};
use crate::event::chunk::{ActingChunk, ReasoningChunk, SummaryChunk};
use crate::event::error::{ErrorEvent, ErrorPhase};
use crate::event::reasoning::{PostReasoning, PreReasoning};
use crate::event::summary::{PostSummary, PreSummary};
use crate::event::table::{EventKind, HookEvent};
use crate::message::{ContentBlock, Messages, Msg, ToolUse};
use crate::report::ErrorReport;
use crate::round::{Acted, ActingInput, Reasoned, ReasoningInput, SummaryInput};
use crate::tool::ToolError;

/// What an event holds, without what it borrows of its call.
pub(crate) struct EventCopy {
    kind: EventKind,
    held: Held,
}

enum Held {
    Messages(Messages),
    Message(Box<Msg>),
    Outcome(CallOutcome),
    Reasoning(Box<ReasoningInput>),
    Reasoned(Box<Reasoned>),
    Summarized(Box<Reasoned>),
    Acting(Box<ActingInput>),
    Acted(Box<Acted>),
    Summary(Box<SummaryInput>),
    Chunk(ContentBlock, Arc<Msg>),
    SummaryChunk(ContentBlock, Arc<Msg>),
    Progress(Arc<ToolUse>, String),
    Error(Phase, Box<AgentError>),
}

enum Phase {
    Call,
    Reasoning,
    Acting(Arc<ToolUse>),
    Summary,
}

impl EventCopy {
    pub(crate) fn of(event: &HookEvent<'_>) -> Self {
        let held = match event {
            HookEvent::PreCall(event) => Held::Messages(event.messages().clone()),
            HookEvent::PostCall(event) => Held::Message(Box::new(event.final_message().clone())),
            HookEvent::Settled(event) => Held::Outcome(event.outcome().clone()),
            HookEvent::PreReasoning(event) => Held::Reasoning(Box::new(event.input().clone())),
            HookEvent::PostReasoning(event) => Held::Reasoned(Box::new(event.copy())),
            HookEvent::PreActing(event) => Held::Acting(Box::new(event.copy())),
            HookEvent::PostActing(event) => Held::Acted(Box::new(event.copy())),
            HookEvent::PreSummary(event) => Held::Summary(Box::new(event.input().clone())),
            HookEvent::PostSummary(event) => Held::Summarized(Box::new(event.copy())),
            HookEvent::ReasoningChunk(event) => {
                Held::Chunk(event.incremental().clone(), event.accumulated().clone())
            }
            HookEvent::SummaryChunk(event) => {
                Held::SummaryChunk(event.incremental().clone(), event.accumulated().clone())
            }
            HookEvent::ActingChunk(event) => {
                Held::Progress(Arc::new(event.tool_use().clone()), event.chunk().to_owned())
            }
            HookEvent::Error(event) => {
                let phase = match event.phase() {
                    ErrorPhase::Call => Phase::Call,
                    ErrorPhase::Reasoning => Phase::Reasoning,
                    ErrorPhase::Acting(call) => Phase::Acting(Arc::new(call.clone())),
                    ErrorPhase::Summary => Phase::Summary,
                };
                Held::Error(phase, Box::new(AgentError::Recorded(report_of(event))))
            }
        };
        Self { kind: event.kind(), held }
    }

    /// Returns the tool call that the event is about.
    pub(crate) fn tool_call(&self) -> Option<&str> {
        match &self.held {
            Held::Acting(input) => Some(&input.call.id),
            Held::Acted(output) => Some(&output.call.id),
            Held::Progress(call, _) | Held::Error(Phase::Acting(call), _) => Some(&call.id),
            _ => None,
        }
    }

    pub(crate) fn kind(&self) -> EventKind {
        self.kind
    }

    /// Returns the event of another agent and another call. A hook asks by the name `hook`.
    pub(crate) fn event<'a>(
        &'a mut self,
        agent: &'a dyn Agent,
        cx: &'a CallContext,
        hook: &'a str,
    ) -> Option<HookEvent<'a>> {
        Some(match &mut self.held {
            Held::Messages(messages) => HookEvent::PreCall(PreCall::new(agent, cx, messages)),
            Held::Message(reply) => HookEvent::PostCall(PostCall::new(agent, cx, reply)),
            Held::Outcome(outcome) => HookEvent::Settled(Settled::new(agent, cx, outcome)),
            Held::Reasoning(input) => HookEvent::PreReasoning(PreReasoning::new(agent, cx, input)),
            Held::Summarized(output) => {
                HookEvent::PostSummary(PostSummary::new(agent, cx, output)?)
            }
            Held::Reasoned(output) => {
                HookEvent::PostReasoning(PostReasoning::new(agent, cx, output)?)
            }
            Held::Acting(input) => {
                let mut event = PreActing::new(agent, cx, input);
                event.set_hook(hook);
                HookEvent::PreActing(event)
            }
            Held::Acted(output) => HookEvent::PostActing(PostActing::new(agent, cx, output)?),
            Held::Summary(input) => HookEvent::PreSummary(PreSummary::new(agent, cx, input)),
            Held::SummaryChunk(chunk, msg) => {
                HookEvent::SummaryChunk(SummaryChunk::new(agent, cx, chunk, msg))
            }
            Held::Chunk(chunk, msg) => {
                HookEvent::ReasoningChunk(ReasoningChunk::new(agent, cx, chunk, msg))
            }
            Held::Progress(call, chunk) => {
                HookEvent::ActingChunk(ActingChunk::new(agent, cx, call, chunk))
            }
            Held::Error(phase, error) => {
                let phase = match &*phase {
                    Phase::Call => ErrorPhase::Call,
                    Phase::Reasoning => ErrorPhase::Reasoning,
                    Phase::Acting(call) => ErrorPhase::Acting(call),
                    Phase::Summary => ErrorPhase::Summary,
                };
                HookEvent::Error(ErrorEvent::new(agent, cx, phase, &**error))
            }
        })
    }
}

fn report_of(event: &ErrorEvent<'_>) -> ErrorReport {
    let error = event.error();
    if let Some(error) = error.downcast_ref::<AgentError>() {
        return error.report();
    }
    match error.downcast_ref::<ToolError>() {
        Some(error) => error.report(),
        None => AgentError::other(error.to_string()).report(),
    }
}
