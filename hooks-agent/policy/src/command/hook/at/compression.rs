//! Compressions of the conversation.

use hooks_agent_core::error::AgentError;
use hooks_agent_core::hook::{Compression, NextCompression};
use hooks_agent_core::message::Messages;

use crate::command::contract::CommandEvent;
use crate::command::decide::Verdict;
use crate::command::hook::command_hooks::CommandHooks;
use crate::command::hook::commands::Occasion;
use crate::command::hook::input;

impl CommandHooks {
    /// Compresses, unless a command blocks. The conversation then stays as it is.
    pub(crate) async fn around_compressing(
        &self,
        compression: Compression<'_>,
        next: NextCompression<'_>,
    ) -> Result<Messages, AgentError> {
        let (cx, instructions) = (compression.context(), compression.instructions());
        let trigger = if instructions.is_some() { "manual" } else { "auto" };
        let messages = compression.into_messages();
        let input_of = |event| {
            let mut input = input::of_call(event, None, cx);
            input.trigger = Some(trigger.to_owned());
            input.custom_instructions = instructions.map(str::to_owned);
            input
        };
        let before = CommandEvent::PreCompact;
        if self.listens(before) {
            let occasion = Occasion { event: before, subject: Some(trigger), tool: None };
            let combined = self.run(cx, occasion, input_of(before)).await;
            let is_blocked = combined.stop.is_some() || combined.verdict == Verdict::Block;
            if let Some(stop) = combined.stop {
                self.note_stop(cx, stop);
            }
            if is_blocked {
                return Ok(messages);
            }
        }
        let compressed = next.run(messages).await?;
        let after = CommandEvent::PostCompact;
        if self.listens(after) {
            let occasion = Occasion { event: after, subject: Some(trigger), tool: None };
            self.run(cx, occasion, input_of(after)).await;
        }
        Ok(compressed)
    }
}
