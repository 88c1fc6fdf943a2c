//! A tool call: its arguments, and its result.

use std::sync::Arc;

use agent_hooks::{HostError, InterceptionPoint};
use hooks_agent_core::hook::{NextTool, ToolCall};
use hooks_agent_core::message::{DecisionKind, Question, ToolOutput, ToolResult, ToolUse};
use hooks_agent_core::tool::ToolError;
use serde_json::{Value, json};

use crate::context::tool::{args_of, output_back, value_of};
use crate::host::blocked::Blocked;
use crate::host::emission::{At, DROPPED};
use crate::host::interceptors::Host;
use crate::host::people::{self, Decided, Kept};
use crate::host::session::Session;

/// What people may decide: an answer in place of the tool would be no approval.
const APPROVAL: [DecisionKind; 3] =
    [DecisionKind::Approve, DecisionKind::Edit, DecisionKind::Reject];

impl Host {
    /// Refuses a tool call outside of a session.
    pub(crate) fn refuse_tool(&self, call: &ToolCall<'_>) -> Blocked {
        let (session, cx) = (Session::of(call.context()), call.context());
        let (at, call) = (At { host: self, session: &session, cx }, call.tool_use());
        let (reason, args) = (HostError::AdapterUnsupported, args_of(call));
        at.deny(InterceptionPoint::PreToolCall, reason, args, |context, args| {
            context.insert(
                "tool_call".to_owned(),
                json!({ "id": call.id, "name": call.name, "args": args }),
            );
        })
    }

    /// Runs a tool call.
    pub(crate) async fn run_tool(
        self: Arc<Self>,
        session: &Session,
        call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let cx = call.context().clone();
        if cx.is_replaying() && !call.runs_agent() {
            // What was asked about it is in the records of the run before. An agent runs again, by its own steps.
            return next.run(call.into_tool_use()).await;
        }
        let at = At { host: &self, session, cx: &cx };
        let call = at.before(call, next).await?;
        let held = session.held();
        let warnings = held.as_ref().map(|held| held.without_warnings());
        let bracket = Bracket { at, call: Some(call.clone()) };
        let ended = if self.is_enforcing() {
            // Progress has no verdict.
            next.run_with_progress(call.clone(), |_| None).await
        } else {
            next.run(call.clone()).await
        };
        bracket.close();
        drop(warnings);
        let ran = cx.ran_tool_use().unwrap_or(call);
        at.after(&ran, ended, next).await
    }
}

impl At<'_> {
    /// Asks about the arguments.
    async fn before(
        self,
        asked: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<Arc<ToolUse>, ToolError> {
        const POINT: InterceptionPoint = InterceptionPoint::PreToolCall;
        let cx = self.cx;
        let call = asked.tool_use();
        if call.invalid_input.is_some() {
            // No tool runs with it, and no context has it.
            let blocked = self.fail(POINT, "tool_call.args");
            if self.host.is_enforcing() {
                return Err(denied(call, &blocked));
            }
            return Ok(asked.into_tool_use());
        }
        let args = args_of(call);
        let waited = match people::take(cx, &call.id) {
            Some(kept) if asked.is_answered(&kept.asked.why) => {
                if kept.context.get("target") == Some(&args) {
                    self.complete(kept, Decided::Approve).await
                } else {
                    // The interceptors are asked about what runs.
                    self.complete(kept.edited(&args), Decided::Edit).await
                }
            }
            before => {
                if let Some(kept) = before {
                    // It is another one by now, or nobody has decided: the interceptors are asked anew.
                    drop(self.complete(kept, Decided::Nothing).await);
                }
                let waits = self.ask_of_tool(&call.id, args, |context, args| {
                    context.insert(
                        "tool_call".to_owned(),
                        json!({ "id": call.id, "name": call.name, "args": args }),
                    );
                });
                waits.await
            }
        };
        let changed = match waited {
            Ok(Ok(changed)) => Ok(changed),
            Ok(Err(kept)) => return Err(self.wait(kept, call, next).await),
            Err(blocked) => Err(blocked),
        };
        let changed = changed.map_err(|blocked| denied(call, &blocked))?;
        let mut call = asked.into_tool_use();
        if let Some(mut context) = changed {
            let args = context["tool_call"]["args"].take();
            if args != args_of(&call) {
                if !args.is_object() {
                    // The arguments were permitted: this is the other point of the pair.
                    let blocked = self.fail(InterceptionPoint::PostToolCall, "tool_call.args");
                    return Err(denied(&call, &blocked));
                }
                Arc::make_mut(&mut call).input = args;
            }
        }
        Ok(call)
    }

    /// Has people asked about a tool call.
    async fn wait(self, kept: Kept, call: &ToolUse, next: NextTool<'_>) -> ToolError {
        let question = Question::new(&*kept.asked.why).allow(APPROVAL);
        if let Err(error) = people::keep(self.cx, kept.clone()) {
            // Without what was asked, no answer could be told from another one.
            tracing::error!(target: "hooks_agent::interceptors", error, "a question was not kept");
            return match self.complete(kept, Decided::Nothing).await {
                Err(blocked) => denied(call, &blocked),
                Ok(_) => denied(call, &self.fail(InterceptionPoint::PreToolCall, "approval")),
            };
        }
        next.ask(call, question)
    }

    /// Asks about the result, or the error that the model reads as one.
    async fn after(
        self,
        call: &ToolUse,
        ended: Result<ToolResult, ToolError>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let (value, is_error) = match &ended {
            Ok(result) => (value_of(&result.output), result.is_error),
            Err(error) => (json!(error.to_string()), true),
        };
        let changed = self.result(call, value, is_error).await;
        let changed = match changed {
            // It ends the call whatever is said of it: the model reads nothing. The caller reads the error of a hook.
            _ if ended.as_ref().is_err_and(ToolError::ends_call) => {
                let has_text = matches!(&ended, Err(ToolError::Hook(_) | ToolError::Recorded(_)));
                return match changed {
                    Err(blocked) if has_text => Err(next.fail(blocked)),
                    Ok(Some(value)) if has_text && !is_text_of(&value, &ended) => {
                        Err(next.fail(text_of(&value)))
                    }
                    _ => ended,
                };
            }
            Err(blocked) => {
                let reason = format!("its result was withheld: {}", blocked.why());
                return Err(ToolError::Denied { tool: call.name.clone(), reason });
            }
            Ok(None) => return ended,
            Ok(Some(value)) => value,
        };
        match ended {
            Ok(mut result) => {
                result.output = output_back(&changed, &result.output);
                Ok(result)
            }
            Err(error) => {
                let before = ToolOutput::text(error.to_string());
                let after = output_back(&changed, &before);
                if after == before {
                    return Err(error);
                }
                Err(ToolError::Failed(after.as_str().to_owned().into()))
            }
        }
    }

    /// Asks about a result. Returns its value if it may have been changed.
    async fn result(
        self,
        call: &ToolUse,
        value: Value,
        is_error: bool,
    ) -> Result<Option<Value>, Blocked> {
        let args = args_of(call);
        let changed = self.ask(InterceptionPoint::PostToolCall, value, |context, value| {
            context.insert(
                "tool_call".to_owned(),
                json!({ "id": call.id, "name": call.name, "args": args }),
            );
            context
                .insert("tool_result".to_owned(), json!({ "value": value, "is_error": is_error }));
        });
        let changed = changed.await?;
        Ok(changed.map(|mut context| context["tool_result"]["value"].take()))
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn is_text_of(value: &Value, ended: &Result<ToolResult, ToolError>) -> bool {
    ended.as_ref().is_err_and(|error| value.as_str() == Some(&error.to_string()))
}

fn denied(call: &ToolUse, blocked: &Blocked) -> ToolError {
    ToolError::Denied { tool: call.name.clone(), reason: blocked.why() }
}

/// A tool that was let run: if it is dropped, its pair of points is still complete.
struct Bracket<'a> {
    at: At<'a>,
    call: Option<Arc<ToolUse>>,
}

impl Bracket<'_> {
    fn close(mut self) {
        self.call = None;
    }
}

impl Drop for Bracket<'_> {
    fn drop(&mut self) {
        if self.call.take().is_some() {
            self.at.fail(InterceptionPoint::PostToolCall, DROPPED);
        }
    }
}
