//! Asks the model and reads its answer.

use futures::StreamExt;
use hooks_core::Hookable;

use crate::call::CallContext;
use crate::error::AgentError;
use crate::message::ContentBlock;
use crate::model::{ChatChunk, ChatRequest, ModelError};
use crate::react::agent::ReActAgent;
use crate::react::run::draft::Draft;
use crate::round::Reasoned;
use crate::stream::AgentEventKind;

/// The kind of answer that is read from the model.
#[derive(Clone, Copy)]
pub(in crate::react) enum Answer {
    Reasoning,
    Summary,
}

impl ReActAgent {
    /// Calls the model and reads its answer to the end, with an event for each chunk.
    pub(in crate::react) async fn ask(
        &self,
        cx: CallContext,
        request: ChatRequest,
        kind: Answer,
    ) -> Result<Reasoned, AgentError> {
        cx.checkpoint().await?;
        let mut answer = self.model_call(cx.clone(), request).await?;
        let model = answer.shared_model();
        let mut draft = Draft::new(&cx, self.core.limits.answer);
        let finish = loop {
            let block = match answer.next().await {
                None => return Err(draft.fail(ModelError::Cut { model: model.to_string() })),
                Some(Err(error)) => return Err(draft.fail(error)),
                Some(Ok(ChatChunk::End { usage, finish })) => {
                    cx.add_usage(usage);
                    draft.set_usage(usage);
                    draft.set_reason(answer.reason());
                    break finish;
                }
                Some(Ok(ChatChunk::Text(text))) => ContentBlock::Text { text },
                Some(Ok(ChatChunk::Thinking(thinking))) => ContentBlock::thinking(thinking),
                Some(Ok(ChatChunk::Signature(signature))) => {
                    ContentBlock::Thinking { thinking: String::new(), signature: Some(signature) }
                }
                Some(Ok(ChatChunk::RedactedThinking(data))) => {
                    ContentBlock::RedactedThinking { data }
                }
                Some(Ok(ChatChunk::ToolUse(call))) => ContentBlock::ToolUse(call),
            };
            let is_seen = cx.is_watched() || self.has_chunk_hooks(kind);
            let Ok(block) = draft.append(block, is_seen) else {
                let limit = self.core.limits.answer;
                return Err(draft.fail(ModelError::TooLong { model: model.to_string(), limit }));
            };
            let is_told = !cx.holds_answers() || matches!(block, Some(ContentBlock::ToolUse(_)));
            match (block, kind) {
                (None, _) => {}
                (Some(block), Answer::Reasoning) => {
                    if is_told {
                        self.reasoning_chunk(&cx, &block, draft.message()).await;
                    }
                    cx.emit(|| AgentEventKind::ReasoningChunk(block)).await;
                }
                (Some(block), Answer::Summary) => {
                    if is_told {
                        self.summary_chunk(&cx, &block, draft.message()).await;
                    }
                    cx.emit(|| AgentEventKind::SummaryChunk(block)).await;
                }
            }
            draft.breathe().await;
            cx.checkpoint().await?;
        };
        if draft.message().content.is_empty() && !finish.is_cut() {
            let usage = draft.message().usage.unwrap_or_default();
            return Err(draft.fail(ModelError::empty(&*model, usage)));
        }
        Ok(Reasoned { finish, ..Reasoned::new(model, draft.finish()) })
    }

    fn has_chunk_hooks(&self, kind: Answer) -> bool {
        match kind {
            Answer::Reasoning => self.is_hooked(Self::PRE_REASONING_CHUNK),
            Answer::Summary => self.is_hooked(Self::PRE_SUMMARY_CHUNK),
        }
    }
}
