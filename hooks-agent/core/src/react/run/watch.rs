//! Runs a tool, with its progress, within its timeout.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{Either, select};

use crate::call::CallContext;
use crate::call::tool::Reports;
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
        let reports = UntilReturned(Arc::default());
        let context = ToolContext::new(cx.clone(), call.clone(), reports.0.clone());
        let run = AssertUnwindSafe(async { tool.call(context).await }).catch_unwind();
        let mut run = pin!(match self.core.tool_timeout {
            None => Either::Left(run.map(Ok)),
            Some(after) => Either::Right(in_time(call, after, run)),
        });
        let ended = loop {
            match select(run.as_mut(), pin!(reports.0.next())).await {
                Either::Left((ended, _)) => break ended,
                // The tool continues to run while hooks handle its progress.
                Either::Right((chunks, _)) => {
                    // Boxed, so that the future of a tool that reports nothing stays small.
                    let told = Box::pin(self.tell(cx, call, chunks));
                    if let Either::Left((ended, told)) = select(run.as_mut(), told).await {
                        told.await;
                        break ended;
                    }
                }
            }
        };
        // Other tasks of the tool report no more.
        let left = reports.0.close();
        if !left.is_empty() {
            Box::pin(self.tell(cx, call, left)).await;
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

    async fn tell(&self, cx: &CallContext, call: &Arc<ToolUse>, chunks: Vec<String>) {
        for chunk in chunks {
            self.tell_one(cx, call, chunk).await;
        }
    }

    async fn tell_one(&self, cx: &CallContext, call: &Arc<ToolUse>, chunk: String) {
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

/// Discards what is reported after the tool has returned, or was dropped.
struct UntilReturned(Arc<Reports>);

impl Drop for UntilReturned {
    fn drop(&mut self) {
        self.0.close();
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
