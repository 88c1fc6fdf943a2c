//! One entry.

use hooks_agent_core::call::RunId;

use crate::ring::text::Text;

/// What an entry is about, which is the name of its server-sent event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    Event,
    Hook,
    Approval,
}

impl EntryKind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Hook => "hook",
            Self::Approval => "approval",
        }
    }
}

/// An entry that is not in the ring yet.
#[derive(Debug)]
pub(crate) struct NewEntry {
    pub(crate) kind: EntryKind,
    /// Whether readers get the summary of the run with it.
    pub(crate) is_milestone: bool,
    pub(crate) text: Text,
}

/// An entry of the ring. A clone shares the text.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) kind: EntryKind,
    pub(super) is_milestone: bool,
    pub(super) run: Option<RunId>,
    pub(super) text: Text,
}

impl Kept {
    /// What an entry takes beside its text: its places in the tables.
    const OVERHEAD: usize = 160;

    pub(super) fn cost(&self) -> usize {
        self.text.size() + Self::OVERHEAD
    }

    /// Writes the JSON of the entry.
    pub(crate) fn write(&self, seq: u64, into: &mut String) {
        if self.kind != EntryKind::Approval {
            into.push_str("{\"seq\":");
            into.push_str(&seq.to_string());
            into.push(',');
        }
        into.push_str(&self.text.read());
    }
}
