//! The end of a call whose agent shuts down.

use std::pin::pin;

use futures::future::{Either, select};

use crate::call::context::CallContext;
use crate::error::AgentError;

impl CallContext {
    /// Begins a step of the call. If the agent shuts down, the call ends here: its thread is in a store,
    /// so that another process goes on with it.
    ///
    /// # Errors
    /// [`AgentError::ShutDown`], and those of [`checkpoint`](Self::checkpoint).
    pub(crate) async fn begin_step(&self) -> Result<(), AgentError> {
        self.checkpoint().await?;
        if self.shuts_down() { Err(self.shut_down()) } else { Ok(()) }
    }

    /// Returns whether the call ends at its next step: its agent shuts down, or that of a call that it is
    /// part of. All of these can go on in another process.
    pub(crate) fn shuts_down(&self) -> bool {
        self.can_be_left()
            && (self.call.shutdown.is_cancelled() || self.parent().is_some_and(Self::shuts_down))
    }

    /// Ends the call between two steps, and returns its error.
    pub(crate) fn shut_down(&self) -> AgentError {
        self.call.marks.is_shut_down.set(true);
        AgentError::ShutDown { agent: self.agent_name().to_owned() }
    }

    /// Returns an error if the call ended between two steps.
    pub(crate) fn check_shut_down(&self) -> Result<(), AgentError> {
        if self.call.marks.is_shut_down.is_set() { Err(self.shut_down()) } else { Ok(()) }
    }

    /// Waits for what the call needs before it begins, unless its agent shuts down.
    pub(crate) async fn unless_shut_down<T>(
        &self,
        wait: impl Future<Output = T>,
    ) -> Result<T, AgentError> {
        match select(pin!(wait), pin!(self.call.shutdown.cancelled())).await {
            Either::Left((done, _)) => Ok(done),
            Either::Right(_) => Err(AgentError::ShutDown { agent: self.agent_name().to_owned() }),
        }
    }
}
