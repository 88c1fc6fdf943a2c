//! Kinds of events, and sets of kinds.

use std::fmt;
use std::ops::{BitAnd, BitOr};

use serde::{Deserialize, Serialize};

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum EventKind {
    /// Before a call.
    PreCall,
    /// After a call, with its reply.
    PostCall,
    /// Before the model is called in a round.
    PreReasoning,
    /// A chunk of the model's answer.
    ReasoningChunk,
    /// After the model answered in a round.
    PostReasoning,
    /// Before a tool call.
    PreActing,
    /// Progress of a running tool.
    ActingChunk,
    /// After a tool call, with its result.
    PostActing,
    /// Before the model is called for a summary.
    PreSummary,
    /// A chunk of the summary.
    SummaryChunk,
    /// After the summary.
    PostSummary,
    /// A failure.
    Error,
    /// The end of a call, whatever its outcome.
    Settled,
}

impl EventKind {
    /// All kinds, in the order of a call.
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

    /// Returns the name in traces, such as `PRE_CALL`.
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
    /// The empty set.
    pub const NONE: Self = Self(0);
    /// The set of all events.
    pub const ALL: Self = Self::of(&EventKind::ALL);

    /// Creates a set of these events.
    #[must_use]
    pub const fn of(kinds: &[EventKind]) -> Self {
        let (mut mask, mut index) = (0, 0);
        while index < kinds.len() {
            mask |= 1 << kinds[index] as u16;
            index += 1;
        }
        Self(mask)
    }

    /// Returns whether the set contains the event.
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
