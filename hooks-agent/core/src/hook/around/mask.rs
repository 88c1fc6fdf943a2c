//! The calls that a hook runs around.

use std::ops::{BitAnd, BitOr};

/// The calls that a hook runs around.
///
/// ```
/// use hooks_agent::hook::AroundMask;
///
/// let both = AroundMask::MODEL_CALL | AroundMask::TOOL_CALL;
/// assert!(both.contains(AroundMask::TOOL_CALL));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AroundMask(u8);

impl AroundMask {
    /// No calls.
    pub const NONE: Self = Self(0);
    /// Calls of the model.
    pub const MODEL_CALL: Self = Self(1);
    /// Calls of tools.
    pub const TOOL_CALL: Self = Self(2);
    /// Checks whether a tool call may run.
    pub const PERMISSION_CHECK: Self = Self(4);
    /// Compressions of the conversation.
    pub const COMPRESSION: Self = Self(8);
    /// Whole calls of the agent: outside of all its events.
    pub const CALL: Self = Self(16);
    /// Each attempt to have an answer of a model: inside of all hooks around the model call.
    pub const MODEL_ATTEMPT: Self = Self(32);

    /// Returns whether all calls of the other set are in this one.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the calls that are in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the calls of all these sets.
    #[must_use]
    pub const fn of(masks: &[Self]) -> Self {
        let (mut mask, mut index) = (0, 0);
        while index < masks.len() {
            mask |= masks[index].0;
            index += 1;
        }
        Self(mask)
    }
}

impl BitAnd for AroundMask {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        self.intersection(other)
    }
}

impl BitOr for AroundMask {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
