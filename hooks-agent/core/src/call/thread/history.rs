//! Replaces the messages of the thread of a call.

use crate::call::context::CallContext;
use crate::error::{AgentError, InputError};
use crate::message::{Messages, unanswered_tool_uses};

impl CallContext {
    /// Replaces the messages of the thread by a shorter conversation, if it is valid, and writes it.
    pub(crate) async fn replace_history(
        &self,
        before: &Messages,
        shorter: &Messages,
    ) -> Result<(), AgentError> {
        for msg in shorter {
            InputError::check_message(msg)?;
        }
        if let [call, ..] = &*unanswered_tool_uses(shorter) {
            let reason = format!("the tool call `{}` was parted from its result", call.id);
            return Err(AgentError::Compression(reason.into()));
        }
        InputError::check_appended(&[], shorter)
            .map_err(|error| AgentError::Compression(error.into()))?;
        let Some(memory) = self.memory() else { return Ok(()) };
        if !memory.compress(before, shorter.clone()) {
            let reason = "the messages of the thread were replaced meanwhile";
            return Err(AgentError::Compression(reason.into()));
        }
        // Nothing is appended yet, so that what stays is not written again.
        Ok(self.commit().await?)
    }
}
