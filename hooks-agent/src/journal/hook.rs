//! The journal as a hook around the steps of a call.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::{Stream, StreamExt};
use hooks_core::{BoxFuture, HookResult};

use crate::call::CallContext;
use crate::error::AgentError;
use crate::event::{EventKind, EventMask, Flow, HookEvent};
use crate::hook::{
    AgentHook, AroundMask, Compression, ModelCall, NextCompression, NextModel, NextTool, ToolCall,
};
use crate::journal::record::{ModelRecord, Read};
use crate::journal::stand_in::StandIn;
use crate::journal::{JournalError, JournalScope, JournalStep, StepRecord, Ticket};
use crate::message::{Messages, ToolResult, ToolUse};
use crate::model::{ChatChunk, ChatStream, ModelAnswer, ModelError};
use crate::tool::ToolError;

/// Keeps the steps of a call in its journal. It runs around all other hooks, so that the journal has what
/// they made of a step.
///
/// A step of an earlier run passes the hooks around it again, with what was recorded in place of the
/// model or the tool: limits count it. What they make of it is dropped, because they made it before.
pub(crate) struct JournalHook(Arc<JournalScope>);

const ROUNDS: EventMask = EventMask::of(&[EventKind::PreReasoning, EventKind::PreSummary]);

impl JournalHook {
    pub(crate) fn new(scope: &Arc<JournalScope>) -> Self {
        Self(scope.clone())
    }
}

impl AgentHook for JournalHook {
    fn name(&self) -> String {
        "Journal".to_owned()
    }

    fn priority(&self) -> i32 {
        i32::MIN
    }

    fn events(&self) -> EventMask {
        ROUNDS
    }

    fn sync_events(&self) -> EventMask {
        ROUNDS
    }

    fn around(&self) -> AroundMask {
        AroundMask::MODEL_CALL | AroundMask::TOOL_CALL | AroundMask::COMPRESSION
    }

    fn always(&self) -> bool {
        true
    }

    fn on_event_now(&self, _: &mut HookEvent<'_>) -> HookResult<Flow> {
        self.0.begin_round();
        Ok(Flow::Continue)
    }

    async fn around_model_call(
        &self,
        call: ModelCall<'_>,
        next: NextModel<'_>,
    ) -> Result<ModelAnswer, AgentError> {
        let key = self.0.next_model();
        let request = call.into_request();
        let step = self.0.journal.step(&key).await.map_err(|error| next.fail(error))?;
        self.0.answered(matches!(step, JournalStep::Replayed(_)));
        let ticket = match step {
            JournalStep::Run(ticket) => ticket,
            JournalStep::Replayed(record) => {
                let read = record.read_model(&key).map_err(|error| next.fail(error))?;
                let record = match read {
                    Read::Failed { report, .. } => return Err(report.into()),
                    Read::Came(record) => record,
                };
                self.0.set_recorded(Some(record.clone().into_answer()));
                drop(next.run(request).await);
                self.0.set_recorded(None);
                return Ok(record.into_answer());
            }
        };
        match next.run(request).await {
            Ok(answer) => {
                let record = ModelRecord {
                    name: answer.model().to_owned(),
                    provider: answer.provider().to_owned(),
                    reason: answer.reason(),
                    chunks: Vec::new(),
                };
                Ok(answer.map_stream(|stream| Recording::of(stream, record, ticket)))
            }
            Err(AgentError::Model(error)) => {
                let error = AgentError::Model(error);
                let record = StepRecord::of_error(&error.report(), None);
                keep(ticket, record).await.map_err(|failed| next.fail(failed))?;
                Err(error)
            }
            // A hook failed: it runs again.
            Err(error) => Err(error),
        }
    }

    async fn around_tool_call(
        &self,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let cx = call.context().clone();
        let runs_agent = call.runs_agent();
        let tool_use = call.into_tool_use();
        if runs_agent {
            // Its own steps are in the journal.
            return next.run(tool_use).await;
        }
        let key = self.0.next_tool(&tool_call_id(&cx, &tool_use));
        let ticket = match self.0.journal.step(&key).await.map_err(|error| next.fail(error))? {
            JournalStep::Run(ticket) => ticket,
            JournalStep::Replayed(record) => {
                let read = record.read_tool(&key).map_err(|error| next.fail(error))?;
                return match read {
                    Read::Failed { report, ran } => {
                        if let (Some(checked), Some(ran)) = (cx.checked(), ran) {
                            checked.set_ran(ran);
                        }
                        Err(report.into())
                    }
                    Read::Came(result) => {
                        let stand_in = Arc::new(StandIn::new(result.clone()));
                        drop(next.run_tool(tool_use, stand_in).await);
                        Ok(result)
                    }
                };
            }
        };
        let ended = next.run(tool_use).await;
        // A tool call that a hook answered or refused is not a step.
        let Some(ran) = cx.checked().and_then(|checked| checked.ran()) else { return ended };
        let record = match &ended {
            Ok(result) => StepRecord::of_tool(result),
            Err(
                error @ (ToolError::Failed(_)
                | ToolError::Panicked { .. }
                | ToolError::TimedOut { .. }),
            ) => StepRecord::of_error(&error.report(), Some(&ran)),
            Err(_) => return ended,
        };
        keep(ticket, record).await.map_err(|failed| next.fail(failed))?;
        ended
    }

    async fn around_compression(
        &self,
        compression: Compression<'_>,
        next: NextCompression<'_>,
    ) -> Result<Messages, AgentError> {
        let key = self.0.next_compression();
        let ticket = match self.0.journal.step(&key).await.map_err(|error| next.fail(error))? {
            JournalStep::Run(ticket) => ticket,
            JournalStep::Replayed(record) => {
                return match record.read_compression(&key).map_err(|error| next.fail(error))? {
                    Read::Failed { report, .. } => Err(report.into()),
                    Read::Came(messages) => Ok(messages.into_iter().collect()),
                };
            }
        };
        let messages = next.run(compression.into_messages()).await?;
        let record = StepRecord::of_compression(&messages);
        keep(ticket, record).await.map_err(|failed| next.fail(failed))?;
        Ok(messages)
    }
}

fn tool_call_id(cx: &CallContext, tool_use: &ToolUse) -> Arc<str> {
    cx.checked().map_or_else(|| tool_use.id.as_str().into(), |checked| checked.id().clone())
}

async fn keep(
    ticket: Ticket,
    record: Result<StepRecord, JournalError>,
) -> Result<(), JournalError> {
    ticket.complete(record?).await
}

/// An answer that is recorded while it is read. Its end is passed on when the journal has it.
struct Recording {
    stream: ChatStream,
    record: ModelRecord,
    ticket: Option<Ticket>,
    /// What is kept, and then passed on.
    last: Option<(BoxFuture<'static, Result<(), JournalError>>, Item)>,
}

type Item = Result<ChatChunk, ModelError>;

impl Recording {
    fn of(stream: ChatStream, record: ModelRecord, ticket: Ticket) -> ChatStream {
        Box::pin(Self { stream, record, ticket: Some(ticket), last: None })
    }

    fn end(&mut self, record: Result<StepRecord, JournalError>, item: Item) {
        if let Some(ticket) = self.ticket.take() {
            self.last = Some((Box::pin(keep(ticket, record)), item));
        }
    }
}

impl Stream for Recording {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Item>> {
        loop {
            let this = &mut *self;
            if let Some((keeping, _)) = &mut this.last {
                let kept = std::task::ready!(keeping.as_mut().poll(cx));
                let item = this.last.take().map(|(_, item)| item);
                return Poll::Ready(match kept {
                    Ok(()) => item,
                    Err(error) => Some(Err(ModelError::Failed {
                        model: this.record.name.clone(),
                        reason: format!("its answer is not in the journal: {error}"),
                    })),
                });
            }
            let item = std::task::ready!(this.stream.poll_next_unpin(cx));
            if this.ticket.is_none() {
                return Poll::Ready(item);
            }
            match item {
                None => return Poll::Ready(None),
                Some(Err(error)) => {
                    let report = AgentError::Model(error.clone()).report();
                    this.end(StepRecord::of_error(&report, None), Err(error));
                }
                Some(Ok(chunk)) => {
                    this.record.add(&chunk);
                    if !matches!(chunk, ChatChunk::End { .. }) {
                        return Poll::Ready(Some(Ok(chunk)));
                    }
                    this.end(StepRecord::of_model(&this.record), Ok(chunk));
                }
            }
        }
    }
}
