//! Runs a tool, with its progress, within its timeout.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::channel::mpsc::unbounded;
use futures::future::{Either, select};
use futures::{FutureExt, StreamExt};

use crate::call::CallContext;
use crate::message::{ToolResult, ToolUse};
use crate::react::agent::ReActAgent;
use crate::stream::AgentEventKind;
use crate::tool::{Tool, ToolContext, ToolError};

impl ReActAgent {
    /// Runs the tool, with an event for each progress report.
    pub(in crate::react) async fn watch(
        &self,
        cx: &CallContext,
        call: &Arc<ToolUse>,
        tool: &dyn Tool,
    ) -> Result<ToolResult, ToolError> {
        let (sender, mut progress) = unbounded();
        let context = ToolContext::new(cx.clone(), call.clone(), sender);
        let run = AssertUnwindSafe(async { tool.call(context).await }).catch_unwind();
        let mut run = pin!(match self.core.tool_timeout {
            None => Either::Left(run.map(Ok)),
            Some(after) => Either::Right(in_time(call, after, run)),
        });
        let ended = loop {
            match select(run.as_mut(), progress.next()).await {
                Either::Left((ended, _)) => break ended,
                // The tool continues to run while hooks handle its progress.
                Either::Right((Some(chunk), _)) => {
                    // Boxed, so that the future of a tool that reports nothing stays small.
                    let told = Box::pin(self.tell(cx, call, chunk));
                    if let Either::Left((ended, told)) = select(run.as_mut(), told).await {
                        told.await;
                        break ended;
                    }
                }
                Either::Right((None, _)) => break run.await,
            }
        };
        // Other tasks of the tool report no more.
        progress.close();
        while let Ok(chunk) = progress.try_recv() {
            Box::pin(self.tell(cx, call, chunk)).await;
        }
        match ended? {
            Ok(Ok(mut output)) => {
                call.mask_output(&mut output);
                Ok(ToolResult::success(call, output))
            }
            Ok(Err(error)) => Err(match error.downcast() {
                Ok(error) => masked(call, *error),
                Err(error) => masked(call, ToolError::Failed(error)),
            }),
            Err(_) => Err(ToolError::Panicked { tool: call.name.clone() }),
        }
    }

    async fn tell(&self, cx: &CallContext, call: &Arc<ToolUse>, chunk: String) {
        let chunk = call.masked(&chunk).unwrap_or(chunk);
        let chunk = match cx.checked() {
            Some(checked) => checked.map_progress(chunk),
            None => Some(chunk),
        };
        let Some(chunk) = chunk else { return };
        self.acting_chunk(cx, call, &chunk).await;
        let call = || ToolUse::clone(call).without_hidden();
        cx.emit(|| AgentEventKind::ToolChunk { call: call(), text: chunk }).await;
    }
}

/// Runs a tool within its timeout.
fn in_time<T>(
    call: &ToolUse,
    after: Duration,
    run: impl Future<Output = T>,
) -> impl Future<Output = Result<T, ToolError>> {
    let timed_out = move |_| ToolError::TimedOut { tool: call.name.clone(), after };
    tokio::time::timeout(after, run).map(move |ended| ended.map_err(timed_out))
}

/// Replaces an error whose text has the text of a hidden argument.
fn masked(call: &ToolUse, error: ToolError) -> ToolError {
    if matches!(error, ToolError::Waiting { .. } | ToolError::Hook(_)) {
        return error;
    }
    match call.masked(&chain(&error)) {
        Some(_) => {
            let text = error.to_string();
            ToolError::Failed(call.masked(&text).unwrap_or(text).into())
        }
        None => error,
    }
}

/// Returns the texts of an error and its sources, and its `Debug` form.
fn chain(error: &ToolError) -> String {
    let mut text = format!("{error:?}");
    let mut next: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = next {
        text.push_str(&error.to_string());
        next = error.source();
    }
    text
}
