//! Which parts of the page are for which roles.

use std::sync::Arc;

use hooks_agent_core::call::User;

/// A part of the page, for [`Studio::only_for`](crate::Studio::only_for).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StudioPart {
    /// The first view: how many calls there were, how long they took, what they cost, and the users.
    Overview,
    /// Runs: what they say, their search, comparison and export, and the stream of what happens.
    Runs,
    /// What threads have said, as the store has it.
    Threads,
    /// Questions that wait, and approvals that are remembered.
    Approvals,
    /// The hooks of agents.
    Hooks,
    /// Everything that changes something: to decide, to revoke, to write, to fork, to rewind, to interrupt. Who may not
    /// act looks.
    Acting,
}

impl StudioPart {
    const ALL: [Self; 6] =
        [Self::Overview, Self::Runs, Self::Threads, Self::Approvals, Self::Hooks, Self::Acting];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Runs => "runs",
            Self::Threads => "threads",
            Self::Approvals => "approvals",
            Self::Hooks => "hooks",
            Self::Acting => "acting",
        }
    }
}

/// The roles of the parts that are not for everyone.
#[derive(Clone, Debug, Default)]
pub(super) struct Access(Vec<(StudioPart, Vec<Arc<str>>)>);

impl Access {
    /// Sets the roles of a part, in place of those that were set before.
    pub(super) fn set(&mut self, part: StudioPart, roles: Vec<Arc<str>>) {
        self.0.retain(|(of, _)| *of != part);
        self.0.push((part, roles));
    }

    /// Returns a part that is not for everyone.
    pub(super) fn first(&self) -> Option<StudioPart> {
        self.0.first().map(|(part, _)| *part)
    }

    /// Returns whether a part is for this user.
    pub(super) fn allows(&self, part: StudioPart, user: Option<&User>) -> bool {
        let of_part = self.0.iter().find(|(of, _)| *of == part);
        of_part.is_none_or(|(_, roles)| {
            user.is_some_and(|user| user.is_known() && roles.iter().any(|it| user.has_role(it)))
        })
    }

    /// Returns the names of the parts that are for this user.
    pub(super) fn parts(&self, user: Option<&User>) -> Vec<&'static str> {
        let allowed = StudioPart::ALL.into_iter().filter(|part| self.allows(*part, user));
        allowed.map(StudioPart::name).collect()
    }
}
