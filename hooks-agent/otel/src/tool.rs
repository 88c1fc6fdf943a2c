//! The span of a tool call.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use hooks_agent_core::call::RunId;
use hooks_agent_core::hook::ToolCall;
use hooks_agent_core::message::ToolResult;
use hooks_agent_core::tool::ToolError;
use opentelemetry::trace::{SpanKind, TraceContextExt};
use opentelemetry::{Context, KeyValue};

use crate::outcome::{self, ErrorType};
use crate::run::{Held, HeldOf, SharedRun, lock, parent_of};
use crate::shared::{Shared, set_error, span};
use crate::{content, names};

/// A tool call that runs. Its span ends when this is dropped at the latest.
pub(super) struct Tool {
    shared: Arc<Shared>,
    run: SharedRun,
    /// The name of the tool, as an attribute.
    name: KeyValue,
    span: Context,
    started: Instant,
    is_ended: bool,
    content: Vec<KeyValue>,
}

/// Marks the context inside of a tool call: the same hook may be registered twice.
struct InTool(RunId, String);

impl Tool {
    /// Starts the span of a tool call, unless another hook does, or an earlier run of the call did.
    pub(super) fn start(shared: &Arc<Shared>, call: &ToolCall<'_>) -> Option<Self> {
        let (cx, tool_use) = (call.context(), call.tool_use());
        let run = shared.run(cx).filter(|_| !cx.is_replaying())?;
        let is_same = |InTool(run, id): &_| *run == cx.run_id() && *id == tool_use.id;
        if lock(&run).is_inside(is_same) {
            return None;
        }
        let parent = lock(&run).call.clone().unwrap_or_else(|| parent_of(cx));
        // A model may write anything as the name of a tool that there is not.
        let tool = call.tool_spec().map_or(names::OTHER, |spec| &spec.name);
        let name = KeyValue::new(names::TOOL_NAME, Arc::<str>::from(tool));
        let mut attributes = Vec::with_capacity(8);
        attributes.push(KeyValue::new(names::OPERATION, names::EXECUTE_TOOL));
        attributes.push(name.clone());
        attributes.push(KeyValue::new(names::TOOL_CALL_ID, tool_use.id.clone()));
        attributes.push(KeyValue::new(names::TOOL_TYPE, "function"));
        let description = call.tool_spec().map(|spec| spec.description.clone());
        attributes.extend(description.map(|it| KeyValue::new(names::TOOL_DESCRIPTION, it)));
        let title = format!("{} {tool}", names::EXECUTE_TOOL);
        let span = shared.tracer.open(span(title, SpanKind::Internal, attributes), &parent);
        let mut content = Vec::new();
        if shared.capture.is_on() && span.span().is_recording() {
            let arguments = content::arguments(tool_use, shared.limit);
            content.push(KeyValue::new(names::TOOL_ARGUMENTS, arguments));
        }
        let id = tool_use.id.clone();
        let span = lock(&run).marked(span, || InTool(cx.run_id(), id.clone()));
        {
            let run = &mut *lock(&run);
            run.tools += 1;
            run.running_tools.push((id, span.clone()));
        }
        let (shared, started) = (shared.clone(), Instant::now());
        Some(Self { shared, run, name, span, started, is_ended: false, content })
    }

    /// The context to run the tool in.
    pub(super) fn context(&self) -> Context {
        self.span.clone()
    }

    pub(super) fn ended(mut self, ended: &Result<ToolResult, ToolError>) {
        match ended {
            Ok(result) => self.end(result.is_error.then_some(outcome::TOOL_FAILED), true),
            Err(error) => self.end(outcome::tool_error(error), true),
        }
    }

    /// Ends the span. If content is exported, it waits for the result as hooks leave it.
    fn end(&mut self, error: Option<ErrorType>, has_result: bool) {
        if std::mem::replace(&mut self.is_ended, true) {
            return;
        }
        let ended = SystemTime::now();
        set_error(&self.span, error.clone());
        if self.shared.meters.has_agents() {
            let mut labels = vec![self.name.clone()];
            labels.extend(error.map(|error| KeyValue::new(names::ERROR_TYPE, error)));
            self.shared.meters.tool(self.started.elapsed(), &labels);
        }
        let run = &mut *lock(&self.run);
        let (span, content) = (self.span.clone(), std::mem::take(&mut self.content));
        let id = run.end_tool(&span);
        let held = Held { of: HeldOf::Tool(id.unwrap_or_default()), span, ended, content };
        if has_result && !held.content.is_empty() && !run.is_settled {
            run.held.push(held);
        } else {
            held.release(self.shared.capture);
        }
    }
}

/// Ends the span of a tool call that was dropped.
impl Drop for Tool {
    fn drop(&mut self) {
        self.end(std::thread::panicking().then_some(outcome::PANIC), false);
    }
}
