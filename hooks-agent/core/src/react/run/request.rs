//! The request to the model: the conversation and the system message of a round.

use std::sync::Arc;

use hooks_core::Hookable;

use crate::error::AgentError;
use crate::message::{Messages, Msg};
use crate::react::agent::ReActAgent;
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
        if compressed != before {
            self.cx.replace_history(&before, &compressed).await?;
        }
        Ok(compressed)
    }

    /// Returns the system message of a round.
    pub(super) async fn system(&self) -> Result<Option<Arc<Msg>>, AgentError> {
        let system = self.cx.system();
        if !self.agent.is_hooked(ReActAgent::PRE_SYSTEM_PROMPT) {
            return Ok(system);
        }
        let before = system.as_ref().map(|msg| msg.text()).unwrap_or_default();
        let length = before.len();
        let after = Box::pin(self.agent.system_prompt(self.cx.clone(), before)).await?;
        let is_same = |msg: &Arc<Msg>| after.len() == length && msg.text() == after;
        match system {
            Some(msg) if is_same(&msg) => Ok(Some(msg)),
            _ if after.is_empty() => Ok(None),
            _ => Ok(Some(Arc::new(Msg::system(after)))),
        }
    }
}
