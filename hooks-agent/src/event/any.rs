//! One event of any kind, to match on.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::agent::Agent;
use crate::context::CallContext;
use crate::event::{
    ActingChunk, ErrorEvent, EventKind, PostActing, PostCall, PostReasoning, PostSummary,
    PreActing, PreCall, PreReasoning, PreSummary, ReasoningChunk, Settled, SummaryChunk,
};

/// One event of any kind, to match on.
///
/// What can be changed has a setter on the event itself; chunks, errors and ends have none.
#[derive(Debug)]
#[non_exhaustive]
pub enum HookEvent<'a> {
    /// A call begins.
    PreCall(PreCall<'a>),
    /// A call has its reply.
    PostCall(PostCall<'a>),
    /// The model is about to be asked.
    PreReasoning(PreReasoning<'a>),
    /// A piece of the model's answer came.
    ReasoningChunk(ReasoningChunk<'a>),
    /// The model has answered.
    PostReasoning(PostReasoning<'a>),
    /// A tool is about to run.
    PreActing(PreActing<'a>),
    /// A tool says how far it is.
    ActingChunk(ActingChunk<'a>),
    /// A tool call has its result.
    PostActing(PostActing<'a>),
    /// The model is about to be asked for a summary.
    PreSummary(PreSummary<'a>),
    /// A piece of the summary came.
    SummaryChunk(SummaryChunk<'a>),
    /// The summary is there.
    PostSummary(PostSummary<'a>),
    /// Something failed.
    Error(ErrorEvent<'a>),
    /// A call is over, whatever its end.
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
    /// Which event it is.
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

    /// The agent.
    #[must_use]
    pub fn agent(&self) -> &dyn Agent {
        each!(self, event => event.agent())
    }

    /// The call.
    #[must_use]
    pub fn context(&self) -> &CallContext {
        each!(self, event => event.context())
    }

    /// Milliseconds since 1970, now.
    #[must_use]
    pub fn timestamp(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}
