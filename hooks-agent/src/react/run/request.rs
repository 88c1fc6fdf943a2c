//! What the model is asked: the conversation and the system message of a round.

use std::sync::Arc;

use crate::error::{AgentError, InputError};
use crate::message::{Messages, Msg, unanswered_tool_uses};
use crate::react::run::rounds::Run;

impl Run<'_> {
    /// Returns the messages in memory, compressed if necessary.
    pub(super) async fn conversation(&self) -> Result<Messages, AgentError> {
        let (messages, config) = (self.memory.messages(), self.agent.core.context);
        if !config.is_due(&messages) {
            return Ok(messages);
        }
        let before = messages.clone();
        let compress = self.agent.compress_context(self.cx.clone(), messages, config, None);
        let compressed = Box::pin(compress).await?;
        for msg in &compressed {
            InputError::check_message(msg)?;
        }
        if let [call, ..] = &*unanswered_tool_uses(&compressed) {
            let reason = format!("the tool call `{}` was parted from its result", call.id);
            return Err(AgentError::Compression(reason.into()));
        }
        InputError::check_appended(&[], &compressed)
            .map_err(|error| AgentError::Compression(error.into()))?;
        if compressed != before {
            self.memory.compress(&before, compressed.clone());
            if self.cx.is_durable() {
                // Nothing is appended yet, so that what stays is not written again.
                self.cx.commit().await?;
            }
        }
        Ok(compressed)
    }

    /// Returns the system message of a round.
    pub(super) async fn system(&self) -> Result<Option<Arc<Msg>>, AgentError> {
        let system = self.cx.system();
        let before = system.as_ref().map(|msg| msg.text()).unwrap_or_default();
        let length = before.len();
        let after = self.agent.system_prompt(self.cx.clone(), before).await?;
        let is_same = |msg: &Arc<Msg>| after.len() == length && msg.text() == after;
        match system {
            Some(msg) if is_same(&msg) => Ok(Some(msg)),
            _ if after.is_empty() => Ok(None),
            _ => Ok(Some(Arc::new(Msg::system(after)))),
        }
    }
}
