//! Why a run does not begin.

use serde_json::{Value, json};

/// Why a run does not begin. Nothing changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The input is not one of the protocol.
    #[error("{0}")]
    Malformed(String),
    /// Nobody is known to ask.
    #[error("authentication is required")]
    Unauthenticated,
    /// Who asks may not.
    #[error("this is not allowed")]
    Forbidden,
    /// Interrupts of the thread are open, and the input does not answer them all.
    #[error("interrupts are not answered")]
    NotAnswered {
        /// The interrupts that are left.
        ids: Vec<String>,
    },
    /// The input answers interrupts whose time is over.
    #[error("interrupts are expired")]
    Expired {
        /// The interrupts.
        ids: Vec<String>,
    },
    /// A decision about an interrupt is not one that is allowed.
    #[error("{0}")]
    NotAllowed(String),
    /// Too many inputs wait.
    #[error("too many inputs wait: send it again later")]
    Busy,
    /// The thread is not there, or not the caller's.
    #[error("the caller has no such thread")]
    NoThread,
    /// The agent takes no messages while it runs.
    #[error("calls of this agent take no messages while they run")]
    NotSteered,
    /// The store of the agent failed.
    #[error("the conversation cannot be read")]
    Unreadable,
}

impl Refused {
    /// Returns the status of HTTP.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::Malformed(_) => 400,
            Self::Unauthenticated => 401,
            Self::Forbidden | Self::NotSteered => 403,
            Self::NoThread => 404,
            Self::NotAnswered { .. } | Self::Expired { .. } | Self::NotAllowed(_) => 409,
            Self::Busy => 429,
            Self::Unreadable => 500,
        }
    }

    /// Returns the body of the answer: `error` is a code, and `message` a text for people.
    ///
    /// ```
    /// use hooks_agent::builtin::connect::ag_ui::Refused;
    ///
    /// let refused = Refused::NotAnswered { ids: vec!["int-1".to_owned()] };
    /// assert_eq!(refused.body()["error"], "interrupts_not_answered");
    /// assert_eq!(refused.body()["ids"][0], "int-1");
    /// ```
    #[must_use]
    pub fn body(&self) -> Value {
        let code = match self {
            Self::Malformed(_) => "malformed",
            Self::Unauthenticated => "unauthenticated",
            Self::Forbidden => "forbidden",
            Self::NotAnswered { .. } => "interrupts_not_answered",
            Self::Expired { .. } => "interrupts_expired",
            Self::NotAllowed(_) => "decision_not_allowed",
            Self::Busy => "busy",
            Self::NoThread => "no_thread",
            Self::NotSteered => "not_steered",
            Self::Unreadable => "unreadable",
        };
        let mut body = json!({ "error": code, "message": self.to_string() });
        if let Self::NotAnswered { ids } | Self::Expired { ids } = self {
            body["ids"] = json!(ids);
        }
        body
    }
}
