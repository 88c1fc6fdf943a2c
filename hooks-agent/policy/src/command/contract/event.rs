//! The events of commands.

use std::fmt;
use std::str::FromStr;

use hooks_agent_core::event::EventKind;
use hooks_agent_core::text::misspelt;

/// An event of a command, by the names that coding agents use, or by the name of an
/// [`EventKind`], such as `PRE_REASONING`.
///
/// [The guide] says when each of them occurs.
///
/// ```
/// use hooks_agent::command::CommandEvent;
/// use hooks_agent::event::EventKind;
///
/// assert_eq!("PreToolUse".parse(), Ok(CommandEvent::PreToolUse));
/// assert_eq!("POST_CALL".parse(), Ok(CommandEvent::Own(EventKind::PostCall)));
/// assert!(CommandEvent::PreToolUse.can_block() && !CommandEvent::Notification.can_block());
/// ```
///
/// [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/command/index.html
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CommandEvent {
    /// The first call on a thread in this process.
    SessionStart,
    /// Before a call that is no part of another.
    UserPromptSubmit,
    /// Before a call of a sub-agent.
    SubagentStart,
    /// Before a tool call.
    PreToolUse,
    /// Before the user is asked for permission.
    PermissionRequest,
    /// After a tool call that succeeded.
    PostToolUse,
    /// After a tool call that failed.
    PostToolUseFailure,
    /// The model answered without tool calls.
    Stop,
    /// The model of a sub-agent answered without tool calls.
    SubagentStop,
    /// Before the conversation is compressed.
    PreCompact,
    /// After the conversation was compressed.
    PostCompact,
    /// A call ended because tool calls wait for permission.
    Notification,
    /// A call failed.
    StopFailure,
    /// The hooks were closed or dropped.
    SessionEnd,
    /// An event of this crate.
    Own(EventKind),
}

/// The error of a name that is no event of commands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown event `{name}`, {}expected one of {}", meant(name), known_names())]
#[non_exhaustive]
pub struct UnknownEvent {
    /// The name.
    pub name: String,
}

impl UnknownEvent {
    /// Returns the event that was meant, if its name is near.
    #[must_use]
    pub fn near(&self) -> Option<CommandEvent> {
        let own = EventKind::ALL.into_iter().map(CommandEvent::Own);
        let names: Vec<_> =
            CommandEvent::THEIRS.into_iter().chain(own).map(CommandEvent::name).collect();
        misspelt(&self.name, names.iter().copied())?.parse().ok()
    }
}

impl CommandEvent {
    /// The events that have the names of coding agents, in the order of a call.
    pub const THEIRS: [Self; 14] = [
        Self::SessionStart,
        Self::UserPromptSubmit,
        Self::SubagentStart,
        Self::PreToolUse,
        Self::PermissionRequest,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::Stop,
        Self::SubagentStop,
        Self::PreCompact,
        Self::PostCompact,
        Self::Notification,
        Self::StopFailure,
        Self::SessionEnd,
    ];

    /// The names of further events of coding agents, at which nothing is decided here.
    pub const OF_CODING_AGENTS: [&'static str; 16] = [
        "ConfigChange",
        "CwdChanged",
        "Elicitation",
        "ElicitationResult",
        "FileChanged",
        "InstructionsLoaded",
        "MessageDisplay",
        "PermissionDenied",
        "PostToolBatch",
        "Setup",
        "TaskCompleted",
        "TaskCreated",
        "TeammateIdle",
        "UserPromptExpansion",
        "WorktreeCreate",
        "WorktreeRemove",
    ];

    /// Returns the name, as in `hook_event_name`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::SubagentStart => "SubagentStart",
            Self::PreToolUse => "PreToolUse",
            Self::PermissionRequest => "PermissionRequest",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::Stop => "Stop",
            Self::SubagentStop => "SubagentStop",
            Self::PreCompact => "PreCompact",
            Self::PostCompact => "PostCompact",
            Self::Notification => "Notification",
            Self::StopFailure => "StopFailure",
            Self::SessionEnd => "SessionEnd",
            Self::Own(kind) => kind.name(),
        }
    }

    /// Returns whether a command can block the event. At the others a block is a warning.
    #[must_use]
    pub const fn can_block(self) -> bool {
        match self {
            Self::UserPromptSubmit
            | Self::PreToolUse
            | Self::PermissionRequest
            | Self::PostToolUse
            | Self::PostToolUseFailure
            | Self::Stop
            | Self::SubagentStop
            | Self::PreCompact => true,
            Self::Own(kind) => can_block(kind),
            _ => false,
        }
    }

    /// Returns what matchers are tested on, if it is one of a few words; else nothing.
    pub(crate) const fn subjects(self) -> &'static [&'static str] {
        match self {
            Self::SessionStart => &["startup", "resume"],
            Self::PreCompact | Self::PostCompact => &["auto", "manual"],
            Self::Notification => &["permission_prompt"],
            Self::SessionEnd => &["other"],
            _ => &[],
        }
    }

    /// Returns whether the event is about a tool call.
    #[must_use]
    pub const fn is_of_a_tool(self) -> bool {
        matches!(
            self,
            Self::PreToolUse
                | Self::PermissionRequest
                | Self::PostToolUse
                | Self::PostToolUseFailure
                | Self::Own(EventKind::PreActing | EventKind::ActingChunk | EventKind::PostActing)
        )
    }
}

/// Chunks, failures and the end of a call cannot be refused.
const fn can_block(kind: EventKind) -> bool {
    use EventKind::{ActingChunk, Error, ReasoningChunk, Settled, SummaryChunk};
    !matches!(kind, ReasoningChunk | ActingChunk | SummaryChunk | Error | Settled)
}

fn meant(name: &str) -> String {
    let near = UnknownEvent { name: name.to_owned() }.near();
    near.map(|event| format!("did you mean `{event}`? ")).unwrap_or_default()
}

fn known_names() -> String {
    let own = EventKind::ALL.into_iter().map(CommandEvent::Own);
    let names = CommandEvent::THEIRS.into_iter().chain(own).map(|event| format!("`{event}`"));
    names.collect::<Vec<_>>().join(", ")
}

impl FromStr for CommandEvent {
    type Err = UnknownEvent;

    fn from_str(name: &str) -> Result<Self, UnknownEvent> {
        let own = EventKind::ALL.into_iter().map(Self::Own);
        let found = Self::THEIRS.into_iter().chain(own).find(|event| event.name() == name);
        found.ok_or_else(|| UnknownEvent { name: name.to_owned() })
    }
}

impl From<EventKind> for CommandEvent {
    fn from(kind: EventKind) -> Self {
        Self::Own(kind)
    }
}

/// The name, for entries whose event is written as a text.
impl From<CommandEvent> for String {
    fn from(event: CommandEvent) -> Self {
        event.name().to_owned()
    }
}

impl fmt::Display for CommandEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
