//! The table of events: each event as a kind, as a variant of [`HookEvent`], and by its name.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::agent::Agent;
use crate::call::CallContext;
use crate::event::{
    ActingChunk, ErrorEvent, PostActing, PostCall, PostReasoning, PostSummary, PreActing, PreCall,
    PreReasoning, PreSummary, ReasoningChunk, Settled, SummaryChunk,
};

/// Declares [`EventKind`] and [`HookEvent`] from a table of events, in the order of a call.
macro_rules! events {
    ($($(#[$doc:meta])* $kind:ident($event:ident) = $name:literal,)*) => {
        /// The kind of an event.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
        #[non_exhaustive]
        pub enum EventKind {
            $($(#[$doc])* $kind,)*
        }

        impl EventKind {
            /// All kinds, in the order of a call.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$kind),*];

            /// Returns the name in traces, such as `PRE_CALL`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }

        /// An event of any kind.
        ///
        /// Events have setters for what a hook may change. Chunks, [`ErrorEvent`] and [`Settled`]
        /// have none.
        #[derive(Debug)]
        #[non_exhaustive]
        pub enum HookEvent<'a> {
            $($(#[$doc])* $kind($event<'a>),)*
        }

        impl HookEvent<'_> {
            /// Returns the kind of the event.
            #[must_use]
            pub fn kind(&self) -> EventKind {
                match self {
                    $(Self::$kind(_) => EventKind::$kind,)*
                }
            }

            /// Returns the agent.
            #[must_use]
            pub fn agent(&self) -> &dyn Agent {
                match self {
                    $(Self::$kind(event) => event.agent(),)*
                }
            }

            /// Returns the context of the call.
            #[must_use]
            pub fn context(&self) -> &CallContext {
                match self {
                    $(Self::$kind(event) => event.context(),)*
                }
            }
        }
    };
}

events! {
    /// Before a call.
    PreCall(PreCall) = "PRE_CALL",
    /// Before the model is called in a round.
    PreReasoning(PreReasoning) = "PRE_REASONING",
    /// A chunk of the model's answer.
    ReasoningChunk(ReasoningChunk) = "REASONING_CHUNK",
    /// After the model answered in a round.
    PostReasoning(PostReasoning) = "POST_REASONING",
    /// Before a tool call.
    PreActing(PreActing) = "PRE_ACTING",
    /// Progress of a running tool.
    ActingChunk(ActingChunk) = "ACTING_CHUNK",
    /// After a tool call, with its result.
    PostActing(PostActing) = "POST_ACTING",
    /// Before the model is called for a summary.
    PreSummary(PreSummary) = "PRE_SUMMARY",
    /// A chunk of the summary.
    SummaryChunk(SummaryChunk) = "SUMMARY_CHUNK",
    /// After the summary.
    PostSummary(PostSummary) = "POST_SUMMARY",
    /// After a call, with its reply.
    PostCall(PostCall) = "POST_CALL",
    /// A failure.
    Error(ErrorEvent) = "ERROR",
    /// The end of a call, whatever its outcome.
    Settled(Settled) = "SETTLED",
}

impl HookEvent<'_> {
    /// Returns the current time, in milliseconds since the Unix epoch (1970).
    #[must_use]
    pub fn timestamp(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
