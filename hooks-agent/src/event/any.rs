//! An event of any kind.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::agent::Agent;
use crate::call::CallContext;
use crate::event::{
    ActingChunk, ErrorEvent, EventKind, PostActing, PostCall, PostReasoning, PostSummary,
    PreActing, PreCall, PreReasoning, PreSummary, ReasoningChunk, Settled, SummaryChunk,
};

/// An event of any kind.
///
/// Events have setters for what a hook may change. Chunks, [`ErrorEvent`] and [`Settled`] have
/// none.
#[derive(Debug)]
#[non_exhaustive]
pub enum HookEvent<'a> {
    /// Before a call.
    PreCall(PreCall<'a>),
    /// After a call, with its reply.
    PostCall(PostCall<'a>),
    /// Before the model is called in a round.
    PreReasoning(PreReasoning<'a>),
    /// A chunk of the model's answer.
    ReasoningChunk(ReasoningChunk<'a>),
    /// After the model answered in a round.
    PostReasoning(PostReasoning<'a>),
    /// Before a tool call.
    PreActing(PreActing<'a>),
    /// Progress of a running tool.
    ActingChunk(ActingChunk<'a>),
    /// After a tool call, with its result.
    PostActing(PostActing<'a>),
    /// Before the model is called for a summary.
    PreSummary(PreSummary<'a>),
    /// A chunk of the summary.
    SummaryChunk(SummaryChunk<'a>),
    /// After the summary.
    PostSummary(PostSummary<'a>),
    /// A failure.
    Error(ErrorEvent<'a>),
    /// The end of a call, whatever its outcome.
    Settled(Settled<'a>),
}

macro_rules! each {
    ($self:ident, $event:ident => $result:expr) => {
        match $self {
            HookEvent::PreCall($event) => $result,
            HookEvent::PostCall($event) => $result,
            HookEvent::PreReasoning($event) => $result,
            HookEvent::ReasoningChunk($event) => $result,
            HookEvent::PostReasoning($event) => $result,
            HookEvent::PreActing($event) => $result,
            HookEvent::ActingChunk($event) => $result,
            HookEvent::PostActing($event) => $result,
            HookEvent::PreSummary($event) => $result,
            HookEvent::SummaryChunk($event) => $result,
            HookEvent::PostSummary($event) => $result,
            HookEvent::Error($event) => $result,
            HookEvent::Settled($event) => $result,
        }
    };
}

impl HookEvent<'_> {
    /// Returns the kind of the event.
    #[must_use]
    pub fn kind(&self) -> EventKind {
        match self {
            Self::PreCall(_) => EventKind::PreCall,
            Self::PostCall(_) => EventKind::PostCall,
            Self::PreReasoning(_) => EventKind::PreReasoning,
            Self::ReasoningChunk(_) => EventKind::ReasoningChunk,
            Self::PostReasoning(_) => EventKind::PostReasoning,
            Self::PreActing(_) => EventKind::PreActing,
            Self::ActingChunk(_) => EventKind::ActingChunk,
            Self::PostActing(_) => EventKind::PostActing,
            Self::PreSummary(_) => EventKind::PreSummary,
            Self::SummaryChunk(_) => EventKind::SummaryChunk,
            Self::PostSummary(_) => EventKind::PostSummary,
            Self::Error(_) => EventKind::Error,
            Self::Settled(_) => EventKind::Settled,
        }
    }

    /// Returns the agent.
    #[must_use]
    pub fn agent(&self) -> &dyn Agent {
        each!(self, event => event.agent())
    }

    /// Returns the context of the call.
    #[must_use]
    pub fn context(&self) -> &CallContext {
        each!(self, event => event.context())
    }

    /// Returns the current time, in milliseconds since the Unix epoch (1970).
    #[must_use]
    pub fn timestamp(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}
