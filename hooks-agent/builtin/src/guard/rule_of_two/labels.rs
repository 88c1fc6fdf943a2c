//! Labels of tools: untrusted input, private data, changes of state.

use std::fmt;
use std::ops::BitOr;

/// What a tool does, for [`RuleOfTwo`](crate::guard::RuleOfTwo).
///
/// ```
/// use hooks_agent::builtin::guard::Labels;
///
/// let browser = Labels::UNTRUSTED_INPUT | Labels::CHANGES_STATE;
/// assert!(browser.contains(Labels::CHANGES_STATE) && browser != Labels::ALL);
/// assert_eq!(browser.to_string(), "untrusted input and changes of state");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Labels(u8);

impl Labels {
    /// None of the three.
    pub const NONE: Self = Self(0);
    /// It returns text that others write: web pages, mails, documents of users.
    pub const UNTRUSTED_INPUT: Self = Self(1);
    /// It returns data that others may not read.
    pub const PRIVATE_DATA: Self = Self(2);
    /// It changes something outside, or sends something there: requests to foreign servers too.
    pub const CHANGES_STATE: Self = Self(4);
    /// All three.
    pub const ALL: Self = Self(7);

    /// The single labels, with what they are called.
    pub(super) const EACH: [(Self, &str); 3] = [
        (Self::UNTRUSTED_INPUT, "untrusted input"),
        (Self::PRIVATE_DATA, "private data"),
        (Self::CHANGES_STATE, "changes of state"),
    ];

    /// Returns whether all of the other labels are among these.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns these labels without the others.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl BitOr for Labels {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Display for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (_, name) in Self::EACH.iter().filter(|(label, _)| self.contains(*label)) {
            write!(f, "{separator}{name}")?;
            separator = " and ";
        }
        if *self == Self::NONE { f.write_str("nothing") } else { Ok(()) }
    }
}
