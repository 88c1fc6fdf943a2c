//! Sets of kinds of events.

use std::ops::{BitAnd, BitOr};

use crate::event::table::EventKind;

/// A set of events.
///
/// ```
/// use hooks_agent::event::{EventKind, EventMask};
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

    /// Returns the events that are in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
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
