//! Where an entry comes from.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where an entry comes from, highest first.
///
/// Entries of [`Managed`](Layer::Managed) need no trust and cannot be left out; those of
/// [`Project`](Layer::Project) run only if they are [trusted](crate::command::Trust), because a
/// repository brings them along.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Layer {
    /// The operator of the machine or of the organisation.
    Managed,
    /// The program itself, or its command line.
    #[default]
    Session,
    /// A file of the user in the project, which is not shared.
    Local,
    /// A file of the project, which is shared.
    Project,
    /// A file of the user, for all projects.
    User,
}

impl Layer {
    /// Returns the name, such as `managed`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::Session => "session",
            Self::Local => "local",
            Self::Project => "project",
            Self::User => "user",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
