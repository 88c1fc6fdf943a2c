//! The fields of a line, by event.

use std::fmt::Write;

use serde::Serialize;
use serde_json::{Value, json};

use crate::observe::audit_log::run::{Run, changed_keys};
use crate::observe::audit_log::seal::Seal;
use hooks_agent_core::agent::CallOutcome;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::event::{ErrorEvent, ErrorPhase, HookEvent, PostActing, PostCall};
use hooks_agent_core::hook::{HookFlow, HookRun};
use hooks_agent_core::message::{ApprovedBy, Msg, PendingCall, PendingReason, ToolUse, Usage};
use hooks_agent_core::round::{Control, JumpTo};

/// The event of what a hook in shadow would have done.
const SHADOW: &str = "SHADOW";

/// The fields of a line, in order.
pub(super) struct Record<'a> {
    text: String,
    seal: &'a Seal,
    has_content: bool,
}

impl<'a> Record<'a> {
    pub(super) fn new(seal: &'a Seal, has_content: bool, time: u64, event: &str) -> Self {
        let mut record = Self { text: String::new(), seal, has_content };
        record.put("time", time);
        record.put("event", event);
        record
    }

    /// Returns the fields of an event. `None` if the event decides nothing and does nothing.
    pub(super) fn of(
        event: &HookEvent<'_>,
        run: &mut Run,
        seal: &'a Seal,
        has_content: bool,
    ) -> Option<String> {
        let mut record = Self::new(seal, has_content, event.timestamp(), event.kind().name());
        record.put_context(event.context());
        record.put_event(event, run).then_some(record.text)
    }

    /// Returns the fields of what a hook in shadow would have done: nothing of its content.
    pub(super) fn of_shadow(
        run: &HookRun<'_>,
        would: HookFlow,
        seal: &'a Seal,
        has_content: bool,
        time: u64,
    ) -> String {
        let mut record = Self::new(seal, has_content, time, SHADOW);
        record.put_context(run.context());
        record.put("hook", run.hook());
        record.put("at", run.event());
        if let Some(call) = run.tool_call_id() {
            record.put("tool_call", call);
        }
        let would = if would == HookFlow::Continue { "change" } else { would.as_str() };
        record.put("would", would);
        record.text
    }

    fn put_context(&mut self, cx: &CallContext) {
        self.put("run", cx.run_id());
        if let Some(parent) = cx.parent() {
            self.put("parent", parent.run_id());
        }
        self.put("thread", cx.thread_id());
        self.put("agent", cx.agent_name());
        self.put("agent_id", cx.agent_id());
    }

    pub(super) fn put(&mut self, key: &str, value: impl Serialize) {
        // A value that cannot be written as JSON becomes null.
        let value = serde_json::to_value(value).unwrap_or(Value::Null);
        if !self.text.is_empty() {
            self.text.push(',');
        }
        // Writing to a string does not fail.
        let _ = write!(self.text, "{}:{value}", Value::from(key));
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    fn put_content(&mut self, key: &str, content: impl Serialize) {
        let content = serde_json::to_value(content).unwrap_or(Value::Null);
        let digest = self.seal.digest(&content, self.has_content);
        self.put(key, digest);
    }

    fn put_event(&mut self, event: &HookEvent<'_>, run: &mut Run) -> bool {
        match event {
            HookEvent::PreCall(event) => {
                if let Some(user) = event.context().identity() {
                    self.put("user", user.id());
                    // What the user could do then, and not what it can now.
                    if user.is_known() {
                        self.put("roles", user.roles().collect::<Vec<_>>());
                    }
                }
                self.put("messages", event.messages().len());
                self.put_content("input", event.messages());
            }
            HookEvent::PreReasoning(event) => {
                let is_decided = self.put_control(event.control());
                run.is_asked = !is_decided;
                return is_decided;
            }
            HookEvent::PostReasoning(event) => {
                if !run.is_asked {
                    self.put("is_answer_of_hook", true);
                }
                run.answered(event.message());
                self.put("finish", event.finish_reason());
                let shown = event.context().shown_answer(event.message());
                self.put_answer(event.model_name(), &shown);
                self.put_control(event.control());
            }
            HookEvent::PreActing(event) => {
                self.put_call(event.context(), event.tool_use(), run);
                self.put_control(event.control());
            }
            HookEvent::PostActing(event) => self.put_result(event, run),
            HookEvent::PreSummary(event) => {
                self.put("rounds", event.current_iteration());
                self.put("limit", event.max_iterations());
            }
            HookEvent::PostSummary(event) => {
                let shown = event.context().shown_answer(event.message());
                self.put_answer(event.model_name(), &shown);
            }
            HookEvent::PostCall(event) => self.put_reply(event),
            HookEvent::Error(event) => {
                run.is_asked &= event.phase() != ErrorPhase::Reasoning;
                self.put_error(event);
            }
            HookEvent::Settled(event) => {
                self.put("outcome", event.outcome().name());
                if let CallOutcome::Finished(reason) = event.outcome() {
                    self.put("reason", reason);
                }
                self.put_usage(event.context().usage());
                self.put("hook_failures", event.context().hook_failures().len());
            }
            _ => return false,
        }
        true
    }

    fn put_answer(&mut self, model: &str, msg: &Msg) {
        self.put("model", model);
        self.put_usage(msg.usage.unwrap_or_default());
        let calls = msg.tool_uses().map(|call| {
            let input = self.seal.digest(&call.input, self.has_content);
            json!({ "id": call.id, "tool": call.name, "input": input })
        });
        let calls: Vec<_> = calls.collect();
        if !calls.is_empty() {
            self.put("tool_calls", calls);
        }
        self.put_content("answer", msg.text());
    }

    fn put_usage(&mut self, usage: Usage) {
        self.put("input_tokens", usage.input_tokens);
        self.put("output_tokens", usage.output_tokens);
    }

    fn put_call(&mut self, cx: &CallContext, call: &ToolUse, run: &Run) {
        self.put("tool", &call.name);
        self.put("tool_call", &call.id);
        if let Some(ApprovedBy { user, approval, .. }) = cx.approved_by(&call.id) {
            self.put("approved_by", user);
            if let Some(approval) = approval {
                self.put("approval", approval);
            }
        }
        let Some(written) = run.written(&call.id) else { return };
        if written.name != call.name {
            self.put("asked_tool", &written.name);
        }
        let keys = changed_keys(&written.input, &call.input);
        if !keys.is_empty() {
            self.put("changed", keys);
        }
    }

    fn put_result(&mut self, event: &PostActing<'_>, run: &Run) {
        self.put_call(event.context(), event.tool_use(), run);
        let result = event.tool_result();
        self.put(
            "outcome",
            match (event.has_run(), result.is_error) {
                (true, false) => "ok",
                (true, true) => "error",
                (false, false) => "answered",
                (false, true) => "refused",
            },
        );
        if let Some(hook) = event.answered_by() {
            self.put("by", hook);
            if result.is_error {
                self.put("why", result.output.as_str());
            }
        }
        self.put_content("result", &result.output);
        self.put_control(event.control());
    }

    fn put_reply(&mut self, event: &PostCall<'_>) {
        let reply = event.final_message();
        self.put("reason", reply.reason);
        if !reply.pending().is_empty() {
            let pending: Vec<_> = reply.pending().iter().map(pending).collect();
            self.put("pending", pending);
        }
        self.put_content("reply", event.context().shown_answer(reply).text());
    }

    /// The text of a tool's error is left out: hooks may still redact it, in the result.
    fn put_error(&mut self, event: &ErrorEvent<'_>) {
        let call = event.phase().tool_call();
        self.put("phase", event.phase().name());
        if let Some(call) = call {
            self.put("tool", &call.name);
            self.put("tool_call", &call.id);
        }
        self.put("error", event.error_kind());
        if let Some(hook) = event.failed_hook() {
            self.put("by", hook);
        }
        if self.has_content && call.is_none() {
            self.put("why", event.error().to_string());
        }
    }

    /// Adds what hooks decided about the rest of the call. Returns whether they did.
    fn put_control(&mut self, control: &Control) -> bool {
        let jump = control.jumps_to().map(|to| match to {
            JumpTo::Model => "jump_to_model",
            JumpTo::Tools => "jump_to_tools",
            JumpTo::End => "jump_to_end",
            _ => "jump",
        });
        let stop = control.is_stopped().then_some("stop");
        let ask = control.asks_permission().then_some("ask");
        let decisions: Vec<_> = [stop, ask, jump].into_iter().flatten().collect();
        if decisions.is_empty() {
            return false;
        }
        self.put("decisions", decisions);
        true
    }
}

/// Returns a tool call that waits: who decided so, and why.
fn pending(pending: &PendingCall) -> Value {
    let PendingCall { id, call, why, .. } = pending;
    let mut line = json!({ "tool_call": id, "tool": call.name, "why": why.name() });
    if let PendingReason::Permission(question) = why
        && !question.is_empty()
    {
        line["question"] = question.as_str().into();
    }
    if !pending.agents.is_empty() {
        line["agents"] = pending.agents.clone().into();
    }
    if let Some(hook) = &pending.asked_by {
        line["by"] = hook.as_str().into();
    }
    if pending.askers.len() > 1 {
        let hooks = pending.askers.iter().filter_map(|asker| asker.hook.as_deref());
        line["askers"] = hooks.collect::<Vec<_>>().into();
    }
    line
}
