//! Why a decision is refused.

use std::sync::Arc;

use crate::message::{DecisionKind, NotApprover};
use crate::store::people::approval::NotRemembered;

/// Why a decision is refused. Nothing changes then: no decision of the same request is stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecisionError {
    /// There is no such question, or it was given up.
    #[error(
        "no question has the id `{id}`: list those that wait by `store.waiting(..)`; a call on their \
         thread also takes the ids of their tool calls"
    )]
    Unknown {
        /// The id.
        id: Arc<str>,
    },
    /// Two decisions of the request are about one question.
    #[error("two decisions about the question `{id}`, one is allowed")]
    Twice {
        /// The id.
        id: Arc<str>,
    },
    /// Another decision came first.
    #[error("the question `{id}` was decided by {}", .by.as_deref().unwrap_or("somebody else"))]
    AlreadyDecided {
        /// The id.
        id: Arc<str>,
        /// Who decided, if they said it.
        by: Option<Arc<str>>,
        /// When, in milliseconds since 1970 by the store's clock.
        when: u64,
    },
    /// The question does not allow this kind of decision.
    #[error(
        "a call of `{tool}` cannot be decided by `{decision}`, allowed: {}", join(.allowed)
    )]
    NotAllowed {
        /// The id.
        id: Arc<str>,
        /// The name of the tool.
        tool: String,
        /// The kind of the decision.
        decision: DecisionKind,
        /// The kinds that are allowed.
        allowed: Vec<DecisionKind>,
    },
    /// The edited arguments do not fit the JSON schema of the tool.
    #[error("the edited arguments of `{tool}` do not fit its schema: {reason}")]
    Schema {
        /// The id.
        id: Arc<str>,
        /// The name of the tool.
        tool: String,
        /// What does not fit.
        reason: String,
    },
    /// The edited arguments cannot be checked against the JSON schema of the tool: the program is
    /// built without the feature `schema` of this crate.
    #[error(
        "the edited arguments of `{tool}` cannot be checked: build the program with the feature \
         `schema` of hooks-agent"
    )]
    Unchecked {
        /// The id.
        id: Arc<str>,
        /// The name of the tool.
        tool: String,
    },
    /// Who decides may not answer the question.
    #[error("the question `{id}` waits for somebody else: {reason}")]
    NotApprover {
        /// The id.
        id: Arc<str>,
        /// Why.
        reason: NotApprover,
    },
    /// The tool call is not the one that was shown.
    #[error("the tool call of the question `{id}` is not the one that was shown: list it again")]
    Changed {
        /// The id.
        id: Arc<str>,
    },
    /// The arguments or the result are nested too deep to be stored.
    #[error("the decision about the question `{id}` is nested deeper than {most} levels")]
    TooDeep {
        /// The id of the question.
        id: Arc<str>,
        /// How deep it may be nested.
        most: usize,
    },
    /// The approval is not remembered. Nothing is decided.
    #[error("the decision about the question `{id}` is not stored: {reason}")]
    NotRemembered {
        /// The id of the question.
        id: Arc<str>,
        /// Why.
        reason: NotRemembered,
    },
    /// The question has expired.
    #[error("the question `{id}` has expired")]
    Expired {
        /// The id.
        id: Arc<str>,
        /// When, in milliseconds since 1970 by the store's clock.
        when: u64,
    },
}

fn join(kinds: &[DecisionKind]) -> String {
    let kinds: Vec<_> = kinds.iter().map(ToString::to_string).collect();
    kinds.join(", ")
}
