//! The reach of a remembered answer.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::store::people::approval::rule::ApprovalRule;

/// How far an approval reaches beyond its question, always with the same agent and the same tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reach {
    /// To calls of the same user on the same thread.
    Thread,
    /// To calls of the same user on every thread.
    User,
    /// To calls of every user.
    Always,
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Thread => "on this thread",
            Self::User => "for this user",
            Self::Always => "for everybody",
        })
    }
}

/// What an approval is remembered for.
#[derive(Clone, Debug, PartialEq)]
pub struct Remember {
    /// How far it reaches.
    pub reach: Reach,
    /// The tool calls that it lets run.
    pub rule: ApprovalRule,
}
