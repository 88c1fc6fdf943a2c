//! How a call continues after a step.

use crate::message::Messages;

/// The target of a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JumpTo {
    /// The next call of the model.
    Model,
    /// The tool calls.
    Tools,
    /// The end of the call.
    End,
}

/// A jump, and the messages that it appends to memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Jump {
    pub(crate) to: JumpTo,
    pub(crate) messages: Messages,
}

/// The decision of the hooks of one step about how the call continues. A later jump replaces an
/// earlier one, and a stop overrides every jump. A decision applies to its step only.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Control {
    pub(crate) stop: bool,
    pub(crate) asks_permission: bool,
    pub(crate) jump: Option<Jump>,
}

impl Control {
    /// Stops the call and returns to the caller.
    pub fn stop(&mut self) {
        self.stop = true;
    }

    /// Returns whether the call stops.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop
    }

    /// Jumps to this target, after appending `messages` to memory.
    pub fn jump(&mut self, to: JumpTo, messages: impl Into<Messages>) {
        self.jump = Some(Jump { to, messages: messages.into() });
    }

    /// Returns the messages that the jump appends to memory.
    #[must_use]
    pub fn jump_messages(&self) -> Option<&Messages> {
        self.jump.as_ref().map(|jump| &jump.messages)
    }

    /// Returns the target of the jump, if there is one.
    #[must_use]
    pub fn jumps_to(&self) -> Option<JumpTo> {
        self.jump.as_ref().map(|jump| jump.to)
    }
}
