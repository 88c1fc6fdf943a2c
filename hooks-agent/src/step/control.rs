//! How a call goes on after a step.

use crate::message::Messages;

/// Where a hook may send a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JumpTo {
    /// The model is asked again.
    Model,
    /// The tool calls run.
    Tools,
    /// The call ends.
    End,
}

/// A jump, and what is remembered on the way.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Jump {
    pub(crate) to: JumpTo,
    pub(crate) messages: Messages,
}

/// What the hooks of one step decided about how the call goes on; a later jump takes the place of an
/// earlier one, and a stop beats every jump. It is of its step alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Control {
    pub(crate) stop: bool,
    pub(crate) asks_permission: bool,
    pub(crate) jump: Option<Jump>,
}

impl Control {
    /// Control goes back to the caller.
    pub fn stop(&mut self) {
        self.stop = true;
    }

    /// Whether control goes back to the caller.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop
    }

    /// The call goes on elsewhere.
    pub fn jump(&mut self, to: JumpTo, messages: impl Into<Messages>) {
        self.jump = Some(Jump { to, messages: messages.into() });
    }

    /// What is remembered before the call goes on elsewhere.
    #[must_use]
    pub fn jump_messages(&self) -> Option<&Messages> {
        self.jump.as_ref().map(|jump| &jump.messages)
    }

    /// Where the call goes on, if not where it would.
    #[must_use]
    pub fn jumps_to(&self) -> Option<JumpTo> {
        self.jump.as_ref().map(|jump| jump.to)
    }
}
