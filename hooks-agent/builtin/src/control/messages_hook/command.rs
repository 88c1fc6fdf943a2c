//! Decisions of the closures of a [`MessagesHook`](crate::control::MessagesHook).

use hooks_agent_core::error::InputError;
use hooks_agent_core::event::EventKind;
use hooks_agent_core::message::{Messages, Msg, Role, unanswered_tool_uses};
use hooks_agent_core::round::JumpTo;

/// The decision of a closure of a [`MessagesHook`](crate::control::MessagesHook): messages, and
/// where the call continues. The default changes nothing.
///
/// ```
/// use hooks_agent::builtin::control::{AgentCommand, UpdatePolicy};
/// use hooks_agent::message::Msg;
/// use hooks_agent::round::JumpTo;
///
/// let command = AgentCommand::append(Msg::user("Shorter, please.")).jump_to(JumpTo::Model);
/// assert_eq!(command.update_policy, UpdatePolicy::Append);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "a closure returns its command"]
pub struct AgentCommand {
    /// Where the call continues, if not with the next step.
    pub jump_to: Option<JumpTo>,
    /// The messages, if they change.
    pub messages: Option<Messages>,
    /// How `messages` changes those of the event.
    pub update_policy: UpdatePolicy,
}

/// How the messages of an [`AgentCommand`] change those of the event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum UpdatePolicy {
    /// They replace them.
    #[default]
    Replace,
    /// They follow them.
    Append,
}

/// The error of an [`AgentCommand`] that does not fit its event. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The event has no such jump.
    #[error("{event} has no jump to `{to}`{hint}")]
    #[non_exhaustive]
    NoJump {
        /// The event.
        event: EventKind,
        /// The target.
        to: JumpTo,
        /// What the event has instead, after a semicolon; or nothing.
        hint: &'static str,
    },
    /// The number of messages does not fit the event.
    #[error("{event} has one message, the command leaves {count}{hint}")]
    #[non_exhaustive]
    NotOneMessage {
        /// The event.
        event: EventKind,
        /// The number of messages that the command leaves.
        count: usize,
        /// What would be valid, after a semicolon; or nothing.
        hint: &'static str,
    },
    /// The messages are no valid conversation.
    #[error(transparent)]
    Messages(#[from] InputError),
}

impl AgentCommand {
    /// Creates a command that replaces the messages of the event.
    pub fn replace(messages: impl Into<Messages>) -> Self {
        Self { messages: Some(messages.into()), ..Self::default() }
    }

    /// Creates a command that appends messages to those of the event.
    pub fn append(messages: impl Into<Messages>) -> Self {
        Self { update_policy: UpdatePolicy::Append, ..Self::replace(messages) }
    }

    /// Sets where the call continues.
    pub fn jump_to(mut self, to: JumpTo) -> Self {
        self.jump_to = Some(to);
        self
    }

    /// Returns the messages of the event as the command changes them, or `None` if it does not.
    pub(super) fn changed(&mut self, before: &Messages) -> Option<Messages> {
        let messages = self.messages.take()?;
        Some(match self.update_policy {
            UpdatePolicy::Replace => messages,
            UpdatePolicy::Append => {
                let mut all = before.clone();
                all.extend(messages);
                all
            }
        })
    }
}

/// Checks that a changed conversation is valid, and leaves no tool call without its result that had
/// one before.
pub(super) fn check_conversation(before: &Messages, after: &Messages) -> Result<(), InputError> {
    InputError::check_history(after)?;
    let waited = unanswered_tool_uses(before);
    let open = unanswered_tool_uses(after).into_iter();
    let ids: Vec<_> = open.filter(|call| !waited.contains(call)).map(|call| call.id).collect();
    if ids.is_empty() { Ok(()) } else { Err(InputError::MissingResults { ids }) }
}

/// Checks a changed answer of the model.
pub(super) fn check_answer(answer: &Msg) -> Result<(), InputError> {
    match answer.role {
        Role::Assistant => InputError::check_history(&Messages::from(answer.clone())),
        role => Err(InputError::NotAnAnswer { role }),
    }
}
