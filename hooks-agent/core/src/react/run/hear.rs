//! Takes what users say to a call that runs.

use std::sync::Arc;

use crate::call::Door;
use crate::error::AgentError;
use crate::message::{ContentBlock, Messages, Msg, open_calls};
use crate::react::run::rounds::Run;
use crate::stream::AgentEventKind;

impl Run<'_> {
    /// Appends what users have said since, where no tool call waits for its result. Returns whether they said
    /// something that the model may read.
    pub(super) async fn hear(&self) -> Result<bool, AgentError> {
        let (cx, memory) = (self.cx, self.memory);
        // Behind messages without an answer nothing is said: the caller may repeat them.
        let is_apart = open_calls(&memory.messages()).is_empty() && !memory.has_unanswered();
        if !self.agent.core.is_steered || !is_apart {
            return Ok(false);
        }
        let said = cx.inbox(memory).await?;
        let Some(until) = said.last().map(|it| it.seq) else { return Ok(false) };
        let mut heard = Vec::with_capacity(said.len());
        for it in said {
            match self.screened(Arc::unwrap_or_clone(it.message)).await {
                Ok(message) => heard.push(Arc::new(message)),
                Err(reason) => cx.warn(format!("a message for the call was dropped: {reason}")),
            }
        }
        memory.hear(heard.iter().cloned().collect::<Messages>(), until);
        cx.commit().await?;
        let is_any = !heard.is_empty();
        for message in heard {
            cx.emit(|| AgentEventKind::Steered(message)).await;
        }
        Ok(is_any)
    }

    /// Returns a message without the characters that no reader sees, and as the guards of the call left it, or why
    /// they block it.
    async fn screened(&self, mut message: Msg) -> Result<Msg, String> {
        for block in &mut message.content {
            if let ContentBlock::Text { text } = block {
                let screened = self.cx.screen(Door::Steering, text).await;
                *text = screened.map_err(|blocked| blocked.reason)?;
            }
        }
        Ok(message)
    }
}
