//! The effect of a tool outside of the agent.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a tool does outside of the agent. The order is that of what may go wrong: a mode that lets tools read, and
/// rules about changes, go by it.
///
/// It is something else than [idempotence](crate::tool::Tool::is_idempotent): a second deletion has no further
/// effect, and the first one destroys.
///
/// ```
/// use hooks_agent::tool::Effect;
///
/// assert!(Effect::Reads < Effect::Changes && Effect::Changes < Effect::Destroys);
/// assert_eq!(Effect::default(), Effect::Changes);
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It changes nothing.
    Reads,
    /// It changes something, or sends something out. Of a tool that says nothing, nothing less is known.
    #[default]
    Changes,
    /// What it does cannot be undone: it deletes, overwrites, or ends something.
    Destroys,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reads => "reads",
            Self::Changes => "changes",
            Self::Destroys => "destroys",
        })
    }
}
