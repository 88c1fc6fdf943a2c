//! The place of a hook before or after another one.

use std::fmt;

/// How a hook stands to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Relation {
    /// It runs earlier, or further out.
    Before,
    /// It runs later, or further in.
    After,
    /// It runs only where the other one is.
    Requires,
}

impl Relation {
    /// The name of the method that asks for it: `before`, `after` or `requires`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
            Self::Requires => "requires",
        }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
