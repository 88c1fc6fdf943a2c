//! Why an approval is not remembered.

use std::sync::Arc;
use std::time::Duration;

use crate::identity::NotApprover;
use crate::store::people::approval::reach::Reach;

/// Why an approval is not remembered. The question stays undecided.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotRemembered {
    /// It is no approval of the arguments that were shown.
    #[error("only `Decision::Approve` is remembered, not an edit, a rejection or a response")]
    Decision,
    /// The question is not whether the tool may run.
    #[error("the tool call does not wait for permission: every answer about it is for once")]
    NoPermission,
    /// The tool is not known, so that it is not noticed if it changes.
    #[error(
        "the agent has no tool `{0}`, so that nobody would notice if another one took its place"
    )]
    UnknownTool(String),
    /// It reaches to a user, and the call that asks has none.
    #[error(
        "the call that asks has no user: set `CallOptions::user`, or remember it on this thread"
    )]
    NoUser,
    /// Who asks lets nobody remember so much.
    #[error(
        "`{asker}` lets nobody remember an answer {reach}, or for other arguments: allow it where it asks, by \
         `remembered_by(Approvers::roles([..]))`"
    )]
    NotAllowed {
        /// The name of the hook, or `the tool`.
        asker: String,
        /// How far it was to reach.
        reach: Reach,
    },
    /// Who decides may not remember so much.
    #[error("it is not remembered: {0}")]
    NotApprover(#[from] NotApprover),
    /// The rule does not allow what was shown.
    #[error("the rule does not allow the call that was shown: {0}")]
    Other(Arc<str>),
    /// It would be good for too long.
    #[error("it would be good for {0:?}: 366 days are allowed at most")]
    TooLong(Duration),
}
