//! The journal as a hook around the steps of a call.

use std::sync::Arc;

use futures::StreamExt;
use hooks_core::HookResult;
use serde_json::Value;

use crate::call::CallContext;
use crate::error::AgentError;
use crate::event::{EventKind, EventMask, Flow, HookEvent};
use crate::hook::{
    AgentHook, AroundMask, Compression, ModelCall, NextCompression, NextModel, NextTool, ToolCall,
};
use crate::journal::record::{ModelRecord, Read};
use crate::journal::{JournalScope, JournalStep, StepRecord};
use crate::message::{Messages, ToolResult, ToolUse};
use crate::model::ModelAnswer;
use crate::react::journaled::recording::Recording;
use crate::tool::{FunctionTool, ToolError};

/// Keeps the steps of a call in its journal. It runs around all other hooks, so that the journal has what
/// they made of a step.
///
/// A step of an earlier run passes the hooks around it again, with what was recorded in place of the
/// model or the tool: limits count it. What they make of it is dropped, because they made it before. A
/// step that failed passes them without an error, so that none of them waits and tries again.
pub(crate) struct JournalHook(Arc<JournalScope>);

const ROUNDS: EventMask = EventMask::of(&[EventKind::PreReasoning, EventKind::PreSummary]);

impl JournalHook {
    /// Returns the hook of a call, if it is kept in a journal.
    pub(crate) fn of(cx: &CallContext) -> Option<Self> {
        cx.journal().cloned().map(Self)
    }

    /// Returns whether another process may run the call again.
    pub(crate) fn outlives_process(&self) -> bool {
        self.0.outlives_process()
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
        let step = self.0.step(&key).await.map_err(|failed| next.fail(failed))?;
        self.0.answered(matches!(step, JournalStep::Replayed(_)));
        let ticket = match step {
            JournalStep::Run(ticket) => ticket,
            JournalStep::Replayed(record) => {
                let read = record.read_model(&key);
                let read = read.map_err(|error| next.fail(self.0.fail(error)))?;
                let (record, failed) = match read {
                    Read::Failed { report, .. } => (ModelRecord::nothing(), Some(report)),
                    Read::Came(record) => (record, None),
                };
                let recorded = record.clone();
                let replaying = self.0.replay_model(record);
                if let Ok(mut answer) = next.run(request).await {
                    // Hooks count at the end of the stream.
                    while answer.next().await.is_some() {}
                }
                drop(replaying);
                return match failed {
                    Some(report) => Err(report.into()),
                    None => Ok(self.0.replay_answer(recorded)),
                };
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
                let scope = self.0.clone();
                Ok(answer.map_stream(|stream| Recording::of(scope, stream, record, ticket)))
            }
            Err(AgentError::Model(error)) => {
                let error = AgentError::Model(error);
                let record = StepRecord::of_error(&error.report(), None);
                self.0.keep(ticket, record).await.map_err(|failed| next.fail(failed))?;
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
        let id = tool_call_id(&cx, &tool_use);
        let key = self.0.next_tool(&id);
        let ticket = match self.0.step(&key).await.map_err(|failed| next.fail(failed))? {
            JournalStep::Run(ticket) => ticket,
            JournalStep::Replayed(record) => {
                let read = record.read_tool(&key);
                let (read, has_run) = read.map_err(|error| next.fail(self.0.fail(error)))?;
                let (ran, result, ended) = match read {
                    Read::Failed { report, ran } => {
                        let nothing = ToolResult::success(&tool_use, "");
                        (ran, nothing, Err(report.into()))
                    }
                    Read::Came(result) => (None, result.clone(), Ok(result)),
                };
                let replaying = self.0.replay_tool(id);
                drop(next.run_tool(tool_use.clone(), Arc::new(recorded(result))).await);
                drop(replaying);
                if let Some(checked) = cx.checked().filter(|_| !has_run) {
                    checked.take_ran();
                }
                if let Some(checked) = cx.checked().filter(|_| has_run) {
                    // What ran in the earlier run, whatever hooks made of the call now.
                    let ran = ran.or_else(|| checked.ran());
                    checked.set_ran(ran.unwrap_or(tool_use));
                }
                return ended;
            }
        };
        let ended = next.run(tool_use).await;
        // Also what a hook answered in place of the tool: later steps rest on it.
        let ran = cx.checked().and_then(|checked| checked.ran());
        let record = match &ended {
            Ok(result) => StepRecord::of_tool(result, ran.is_some()),
            // These end the run, which does the step again.
            Err(error) if error.ends_call() => return ended,
            Err(error) => StepRecord::of_error(&error.report(), ran.as_ref()),
        };
        self.0.keep(ticket, record).await.map_err(|failed| next.fail(failed))?;
        ended
    }

    async fn around_compression(
        &self,
        compression: Compression<'_>,
        next: NextCompression<'_>,
    ) -> Result<Messages, AgentError> {
        let key = self.0.next_compression();
        let ticket = match self.0.step(&key).await.map_err(|failed| next.fail(failed))? {
            JournalStep::Run(ticket) => ticket,
            JournalStep::Replayed(record) => {
                let read = record.read_compression(&key);
                return match read.map_err(|error| next.fail(self.0.fail(error)))? {
                    Read::Failed { report, .. } => Err(report.into()),
                    Read::Came(messages) => Ok(messages.into_iter().collect()),
                };
            }
        };
        let messages = next.run(compression.into_messages()).await?;
        let record = StepRecord::of_compression(&messages);
        self.0.keep(ticket, record).await.map_err(|failed| next.fail(failed))?;
        Ok(messages)
    }
}

fn tool_call_id(cx: &CallContext, tool_use: &ToolUse) -> Arc<str> {
    cx.checked().map_or_else(|| tool_use.id.as_str().into(), |checked| checked.id().clone())
}

/// Returns a tool that returns what was recorded, in place of the agent's. An error would make hooks wait
/// and try again.
fn recorded(result: ToolResult) -> FunctionTool {
    FunctionTool::new(result.name.clone(), "Returns what was recorded.", move |_: Value| {
        let output = result.output.clone();
        async move { output }
    })
}
