//! Which event it is, and sets of them.

use std::fmt;
use std::ops::{BitAnd, BitOr};

use serde::{Deserialize, Serialize};

/// Which event it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum EventKind {
    /// A call begins.
    PreCall,
    /// A call has its reply.
    PostCall,
    /// The model is about to be asked.
    PreReasoning,
    /// A piece of the model's answer came.
    ReasoningChunk,
    /// The model has answered.
    PostReasoning,
    /// A tool is about to run.
    PreActing,
    /// A tool says how far it is.
    ActingChunk,
    /// A tool call has its result.
    PostActing,
    /// The model is about to be asked for a summary.
    PreSummary,
    /// A piece of the summary came.
    SummaryChunk,
    /// The summary is there.
    PostSummary,
    /// Something failed.
    Error,
    /// A call is over, whatever its end.
    Settled,
}

impl EventKind {
    /// All events, in the order of a call.
    pub const ALL: [Self; 13] = [
        Self::PreCall,
        Self::PreReasoning,
        Self::ReasoningChunk,
        Self::PostReasoning,
        Self::PreActing,
        Self::ActingChunk,
        Self::PostActing,
        Self::PreSummary,
        Self::SummaryChunk,
        Self::PostSummary,
        Self::PostCall,
        Self::Error,
        Self::Settled,
    ];

    /// Its name in traces: `PRE_CALL`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PreCall => "PRE_CALL",
            Self::PostCall => "POST_CALL",
            Self::PreReasoning => "PRE_REASONING",
            Self::ReasoningChunk => "REASONING_CHUNK",
            Self::PostReasoning => "POST_REASONING",
            Self::PreActing => "PRE_ACTING",
            Self::ActingChunk => "ACTING_CHUNK",
            Self::PostActing => "POST_ACTING",
            Self::PreSummary => "PRE_SUMMARY",
            Self::SummaryChunk => "SUMMARY_CHUNK",
            Self::PostSummary => "POST_SUMMARY",
            Self::Error => "ERROR",
            Self::Settled => "SETTLED",
        }
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of events.
///
/// ```
/// use hooks_agent::{EventKind, EventMask};
///
/// const TOOLS: EventMask = EventMask::of(&[EventKind::PreActing, EventKind::PostActing]);
/// let mask = TOOLS | EventKind::Error.into();
/// assert!(mask.contains(EventKind::Error) && !mask.contains(EventKind::PreCall));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventMask(u16);

impl EventMask {
    /// No event.
    pub const NONE: Self = Self(0);
    /// Every event.
    pub const ALL: Self = Self::of(&EventKind::ALL);

    /// These events.
    #[must_use]
    pub const fn of(kinds: &[EventKind]) -> Self {
        let (mut mask, mut index) = (0, 0);
        while index < kinds.len() {
            mask |= 1 << kinds[index] as u16;
            index += 1;
        }
        Self(mask)
    }

    /// Whether the event is one of them.
    #[must_use]
    pub const fn contains(self, kind: EventKind) -> bool {
        self.0 & (1 << kind as u16) != 0
    }
}

impl From<EventKind> for EventMask {
    fn from(kind: EventKind) -> Self {
        Self::of(&[kind])
    }
}

impl BitAnd for EventMask {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for EventMask {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
