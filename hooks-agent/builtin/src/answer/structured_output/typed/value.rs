//! A typed answer.

use std::ops::Deref;

use hooks_agent_core::message::Msg;

/// A typed answer, and the reply that it was read from. It dereferences to the value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Typed<T> {
    /// The value.
    pub value: T,
    /// The reply, with its usage. Its text is the JSON of the value, unless a hook of `PostCall` added
    /// to it.
    pub reply: Msg,
}

impl<T> Typed<T> {
    pub(super) fn new(value: T, reply: Msg) -> Self {
        Self { value, reply }
    }

    /// Returns the value.
    #[must_use]
    pub fn into_value(self) -> T {
        self.value
    }
}

impl<T> Deref for Typed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}
