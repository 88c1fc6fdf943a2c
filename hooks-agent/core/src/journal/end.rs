//! The end of a call.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{AgentError, ErrorReport};
use crate::message::Msg;
use crate::store::{Step, ThreadKey};

/// How a call ended, and what it adds to its threads.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallEnd {
    /// The reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Arc<Msg>>,
    /// The error, if there is no reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorReport>,
    /// What the call adds to the threads of the journal: those of the agent and of its sub-agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<(ThreadKey, Step)>,
    /// The same of threads that are in a store outside of the process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stored: Vec<(ThreadKey, Step)>,
}

impl CallEnd {
    /// Creates the end of a call that changed no thread.
    #[must_use]
    pub fn new(ended: Result<Arc<Msg>, ErrorReport>) -> Self {
        match ended {
            Ok(reply) => Self { reply: Some(reply), ..Self::nothing() },
            Err(error) => Self { error: Some(error), ..Self::nothing() },
        }
    }

    pub(crate) fn nothing() -> Self {
        Self { reply: None, error: None, threads: Vec::new(), stored: Vec::new() }
    }

    /// Returns whether the call failed with an error that is [transient](ErrorReport::is_transient),
    /// so that an engine may run it again.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.error.as_ref().is_some_and(ErrorReport::is_transient)
    }

    /// Returns the reply, or the error as the call returns it.
    ///
    /// # Errors
    /// The error of the call.
    pub fn into_reply(self) -> Result<Msg, AgentError> {
        match (self.reply, self.error) {
            (Some(reply), _) => Ok(Arc::unwrap_or_clone(reply)),
            (None, Some(error)) => Err(error.into()),
            (None, None) => Err(AgentError::other("the end of the call has no reply")),
        }
    }
}
