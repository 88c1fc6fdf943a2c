//! The forms in which coding agents write their events and read answers.
//!
//! Each agent has its own names, its own fields, and its own list of answers that it takes: what it does not take, it
//! often passes over, and runs the tool. A [`Dialect`] is what was seen of one agent: it reads its events, and writes
//! answers that hold there. What an agent cannot be told becomes the next stricter thing that it can be told, as
//! [`Dialect::cannot`] lists it.

mod agents;
mod answer;
mod canary;
mod common;
mod fields;
mod received;
mod table;

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};

pub use answer::Answer;
pub use canary::Canary;
pub use received::{Received, Unread};
use table::{Event, Table};

/// The field of an input that says of which session the one of a sub-agent is a part.
const PARENT: &str = "hooks_agent_parent_session";

/// A coding agent, as it was seen to behave.
///
/// ```
/// use hooks_agent::guest::{Dialect, Received};
///
/// let event = r#"{"session_id": "s", "turn_id": "t", "hook_event_name": "PreToolUse", "tool_name": "Bash",
///     "tool_input": {"command": "rm -rf /"}}"#;
/// let received = Received::read(event.as_bytes(), None, None).unwrap();
/// assert_eq!(received.dialect(), "codex".parse::<Dialect>()?);
/// let answer = received.undecided("no policy").json.unwrap();
/// assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny");
/// # Ok::<(), hooks_agent::guest::UnknownDialect>(())
/// ```
#[derive(Clone, Copy)]
pub struct Dialect(&'static Table);

/// The error of a name that is no agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDialect {
    name: String,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 10] = {
        let [a, b, c, d, e, f, g, h, i, j] = agents::ALL;
        [Self(a), Self(b), Self(c), Self(d), Self(e), Self(f), Self(g), Self(h), Self(i), Self(j)]
    };

    /// Returns the name on the command line, such as `claude`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the name for people, such as `Claude Code`.
    #[must_use]
    pub const fn agent(self) -> &'static str {
        self.0.agent
    }

    /// Returns the version of the agent that was watched. A newer one may behave otherwise.
    #[must_use]
    pub const fn version(self) -> &'static str {
        self.0.version
    }

    /// Returns when the agent goes on without its guard, whatever the guard answers.
    #[must_use]
    pub const fn gaps(self) -> &'static [&'static str] {
        self.0.gaps
    }

    /// Returns the decisions that the agent takes in no form at an event, a line each, with the stricter one that it gets.
    ///
    /// ```
    /// use hooks_agent::guest::Dialect;
    ///
    /// let codex: Dialect = "codex".parse()?;
    /// assert!(codex.cannot().contains(
    ///     &"PreToolUse: a question to a person: it becomes a tool call that is denied".to_owned()
    /// ));
    /// # Ok::<(), hooks_agent::guest::UnknownDialect>(())
    /// ```
    #[must_use]
    pub fn cannot(self) -> Vec<String> {
        let mut lines = Vec::new();
        for event in self.0.events {
            for form in event.kind.forms().iter().filter(|form| !event.takes.contains(form)) {
                let what = form.text();
                let becomes = match form.taken_by(event) {
                    Some(other) => format!("it becomes {}", other.text()),
                    None => "it is not told".to_owned(),
                };
                lines.push(format!("{}: {what}: {becomes}", event.name));
            }
        }
        lines
    }

    /// Returns whether the agent is known to have an event of this name.
    #[must_use]
    pub fn has_event(self, name: &str) -> bool {
        self.event(name).is_some()
    }

    /// Returns whose event it is, by what no other agent writes.
    fn of(fields: &Map<String, Value>) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| (dialect.0.is_of)(fields))
    }

    fn event(self, name: &str) -> Option<&'static Event> {
        self.0.events.iter().find(|event| event.name == name)
    }
}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<Self, UnknownDialect> {
        let found = Self::ALL.into_iter().find(|dialect| dialect.name() == name);
        found.ok_or_else(|| UnknownDialect { name: name.to_owned() })
    }
}

impl fmt::Display for UnknownDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name == "continue" {
            return f.write_str(
                "Continue loads hooks and never calls them: nothing can guard it by its hooks",
            );
        }
        let names: Vec<_> =
            Dialect::ALL.iter().map(|dialect| format!("`{}`", dialect.name())).collect();
        write!(f, "no agent `{}`, expected one of {}", self.name.escape_debug(), names.join(", "))
    }
}

impl std::error::Error for UnknownDialect {}

impl PartialEq for Dialect {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Dialect {}

impl fmt::Debug for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Dialect").field(&self.name()).finish()
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
