//! The decisions of rules.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a rule decides about the tool calls that it matches. Of all that match, the strictest holds: `Deny` before
/// `Ask` before `Warn` before `Allow`.
///
/// ```
/// use hooks_agent::builtin::guard::Then;
///
/// assert!(Then::Deny > Then::Ask && Then::Ask > Then::Warn && Then::Warn > Then::Allow);
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// The tool call is spoken of: the default does not hold. It lifts nothing that another rule or hook refuses.
    Allow,
    /// The tool call runs. The log has a warning, and people who are asked about the tool call read it.
    Warn,
    /// People are asked.
    Ask,
    /// The tool call does not run, and the model reads why.
    Deny,
}

impl Then {
    /// Returns the name, as files write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}
