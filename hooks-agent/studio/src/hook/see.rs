//! Writes the entries of each event.

use hooks_agent_core::agent::CallOutcome;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::{HookEvent, PostActing, PostCall, PreActing, PreCall, Settled};
use hooks_agent_core::message::{ApprovedBy, Messages, Msg, Role, ToolUse};
use hooks_agent_core::tool::ToolError;
use hooks_core::Hookable;
use serde_json::{Map, Value, json, to_value};

use crate::hook::entry::body::{self, body};
use crate::hook::entry::data::{Input, Made, Plain, Progress, Request};
use crate::hook::failure::Failure;
use crate::hook::recorder::Recorder;
use crate::hook::run::Kept;
use crate::ring::{RunState, RunSummary, now};

/// How many characters of the first text are the title of a run.
const TITLE: usize = 120;

impl Recorder {
    /// Writes what an event says.
    pub(super) fn see(&self, event: &HookEvent<'_>) {
        let cx = event.context();
        let Some(run) = self.claim(cx) else { return };
        let mut kept = run.lock();
        let kept = &mut *kept;
        // Hooks may come and go while a call runs.
        let version = event.agent().hooks_version();
        if kept.version != Some(version) {
            let order = self.orders.of(event.agent(), version);
            kept.version = Some(version);
            kept.order = Some(order.or(kept.order.unwrap_or_default()));
        }
        let tool_call = match event {
            HookEvent::PreActing(event) => Some(&*event.tool_use().id),
            HookEvent::PostActing(event) => Some(&*event.tool_use().id),
            _ => None,
        };
        let tells_nothing = matches!(
            event,
            HookEvent::ReasoningChunk(_)
                | HookEvent::SummaryChunk(_)
                | HookEvent::ActingChunk(_)
                | HookEvent::Error(_)
        );
        if !tells_nothing {
            self.flush(kept, cx, (event.kind().name(), tool_call), || held(event));
        }
        self.write(kept, cx, event);
    }

    fn write(&self, kept: &mut Kept, cx: &CallContext, event: &HookEvent<'_>) {
        match event {
            HookEvent::PreCall(event) => self.pre_call(kept, event),
            HookEvent::PreReasoning(event) => {
                let request = Request {
                    model: event.model_name().to_owned(),
                    messages: event.messages().len(),
                    tools: event.tools().iter().map(|tool| tool.name.clone()).collect(),
                    system: event.system_message().map(Msg::text),
                };
                self.request(kept, cx, request, true);
                self.note(kept, cx, "reasoning_started");
            }
            HookEvent::PreSummary(event) => {
                let request = Request {
                    model: event.model_name().to_owned(),
                    messages: event.messages().len(),
                    tools: Vec::new(),
                    system: event.system_message().map(Msg::text),
                };
                self.request(kept, cx, request, false);
                self.note(kept, cx, "summary_started");
            }
            HookEvent::ReasoningChunk(event) => {
                self.add_chunk(kept, cx, "reasoning_chunk", event.incremental());
            }
            HookEvent::SummaryChunk(event) => {
                self.add_chunk(kept, cx, "summary_chunk", event.incremental());
            }
            HookEvent::PostReasoning(event) => self.answer(kept, cx, "reasoned", event.message()),
            HookEvent::PostSummary(event) => self.answer(kept, cx, "summarized", event.message()),
            HookEvent::PreActing(event) => self.pre_acting(kept, event),
            HookEvent::ActingChunk(event) => {
                let call = kept.call(&event.tool_use().id, &event.tool_use().name);
                let progress = Progress { call, text: event.chunk().to_owned() };
                self.add(kept, cx, "tool_chunk", Made(progress), |_| {});
            }
            HookEvent::PostActing(event) => self.post_acting(kept, event),
            HookEvent::PostCall(event) => self.post_call(kept, event),
            // The model reads the error of a tool; it does not fail the call.
            HookEvent::Error(event) if !event.error().is::<ToolError>() => {
                let error = event.error().downcast_ref::<AgentError>();
                kept.error = Some(Failure::of(error, kept.attempts));
            }
            HookEvent::Settled(event) => self.settle(kept, event),
            _ => {}
        }
    }

    fn pre_call(&self, kept: &mut Kept, event: &PreCall<'_>) {
        let title = kept.is_shown().then(|| title(event.messages())).flatten();
        let input = Input { messages: event.messages().clone() };
        let titled = |run: &mut RunSummary| run.title = title.map(Into::into);
        self.add(kept, event.context(), "input", Made(input), titled);
        if event.resumes() {
            self.end_waiting(kept, event.context());
        }
    }

    /// Ends the runs that waited on the thread of a call that resumes them.
    fn end_waiting(&self, kept: &mut Kept, cx: &CallContext) {
        let own = kept.head(cx);
        let ring = &self.shared.ring;
        for head in ring.waiting(&own.agent, &own.thread) {
            if let Some(json) = body(&head, now(), "resumed", Some(json!({ "by": own.run }))) {
                let finished = |run: &mut RunSummary| run.state = RunState::Finished;
                ring.push(&head, body::event(json.to_string().into(), true), finished);
            }
        }
    }

    fn request(&self, kept: &mut Kept, cx: &CallContext, request: Request, is_round: bool) {
        kept.attempts = 0;
        // Chunks that nobody confirmed are of an answer that was not used.
        self.hide_draft(kept, None);
        let rounds = u64::from(is_round);
        self.add(kept, cx, "request", Made(request), |run| run.rounds += rounds);
    }

    fn answer(&self, kept: &mut Kept, cx: &CallContext, kind: &'static str, answer: &Msg) {
        self.hide_draft(kept, Some(answer));
        let usage = cx.usage();
        let shown = cx.shown_answer(answer);
        self.add(kept, cx, kind, &*shown, |run| run.set_usage(usage));
    }

    fn pre_acting(&self, kept: &mut Kept, event: &PreActing<'_>) {
        let (cx, call) = (event.context(), event.tool_use());
        // Without its hidden arguments.
        let mut shown = ToolUse::new(call.id.clone(), call.name.clone(), call.input.clone());
        shown.invalid_input.clone_from(&call.invalid_input);
        shown.signature.clone_from(&call.signature);
        kept.calls.insert(call.id.clone(), shown);
        if let Some(ApprovedBy { user, approval: Some(approval), .. }) = cx.approved_by(&call.id) {
            let data =
                json!({ "id": call.id, "tool": call.name, "by": user, "approval": approval });
            self.add(kept, cx, "permission_remembered", Made(Plain(data)), |_| {});
        }
    }

    fn post_acting(&self, kept: &mut Kept, event: &PostActing<'_>) {
        let result = event.tool_result();
        kept.calls.remove(&event.tool_use().id);
        self.add(kept, event.context(), "tool_finished", result, |run| run.tools += 1);
    }

    fn post_call(&self, kept: &mut Kept, event: &PostCall<'_>) {
        let (cx, reply) = (event.context(), event.final_message());
        kept.is_waiting = !reply.pending().is_empty();
        for pending in reply.pending() {
            self.add(kept, cx, "permission_asked", pending, |_| {});
        }
        self.add(kept, cx, "finished", &*cx.shown_answer(reply), |_| {});
    }

    /// Writes how a call ended.
    fn settle(&self, kept: &mut Kept, event: &Settled<'_>) {
        let cx = event.context();
        if kept.order.is_none_or(|order| order.reviews_answers) {
            self.hide_draft(kept, None);
        }
        let (state, reason) = match event.outcome() {
            CallOutcome::Finished(reason) if kept.is_waiting => (RunState::Waiting, *reason),
            CallOutcome::Finished(reason) => (RunState::Finished, *reason),
            CallOutcome::Interrupted => (RunState::Interrupted, None),
            CallOutcome::Cancelled => (RunState::Cancelled, None),
            CallOutcome::Panicked => (RunState::Panicked, None),
            _ => (RunState::Failed, None),
        };
        let error = kept.error.take().unwrap_or_else(|| Failure::of(None, 0));
        let error = (state == RunState::Failed).then_some(error);
        if let Some(failure) = &error {
            self.add(kept, cx, "failed", Made(Plain(json!(failure))), |_| {});
        }
        let error = error.map(|failure| failure.kind);
        let outcome = if state == RunState::Waiting { RunState::Finished } else { state };
        let mut data = json!({ "outcome": outcome.name() });
        if let Some(reason) = reason {
            data["reason"] = json!(reason);
        }
        let (usage, ended) = (cx.usage(), now());
        self.add(kept, cx, "settled", Made(Plain(data)), |run| {
            run.state = state;
            run.reason = reason;
            run.error = error;
            run.ended = Some(ended);
            run.set_usage(usage);
        });
        let head = kept.head(cx);
        self.shared.ring.end(head.run);
        if kept.is_waiting || self.shared.announced.concern(&head.agent, &head.thread) {
            self.shared.asked.send_replace(());
        }
    }
}

/// Keeps a tool call as hooks left it, until it ends.
/// Returns the first text of the caller, cut.
fn title(messages: &Messages) -> Option<String> {
    let of_user = messages.iter().filter(|msg| msg.role == Role::User);
    let text = of_user.map(Msg::text).find(|text| !text.trim().is_empty())?;
    Some(text.trim().chars().take(TITLE).collect())
}

/// Returns what an event holds, with the names that the changes of hooks have.
fn held(event: &HookEvent<'_>) -> Option<Value> {
    let mut held = Map::new();
    let mut put = |name: &str, value: Result<Value, _>| {
        // What cannot be written as JSON has no changes to show.
        if let Ok(value) = value {
            held.insert(name.to_owned(), value);
        }
    };
    match event {
        HookEvent::PreCall(event) => {
            put("messages", to_value(event.messages()));
            put("system", to_value(event.system_message()));
        }
        HookEvent::PreReasoning(event) => {
            put("messages", to_value(event.messages()));
            put("system", to_value(event.system_message()));
            put("tools", to_value(event.tools()));
            put("options", to_value(event.options()));
        }
        HookEvent::PreSummary(event) => {
            put("messages", to_value(event.messages()));
            put("system", to_value(event.system_message()));
            put("options", to_value(event.options()));
        }
        HookEvent::PostReasoning(event) => {
            put("message", to_value(event.context().shown_answer(event.message())));
        }
        HookEvent::PostSummary(event) => {
            put("message", to_value(event.context().shown_answer(event.message())));
        }
        HookEvent::PostCall(event) => {
            put("message", to_value(event.context().shown_answer(event.final_message())));
        }
        HookEvent::PreActing(event) => put("tool_use", to_value(event.tool_use())),
        HookEvent::PostActing(event) => put("tool_result", to_value(event.tool_result())),
        _ => return None,
    }
    Some(held.into())
}
