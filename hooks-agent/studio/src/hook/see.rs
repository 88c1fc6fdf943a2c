//! Writes the entries of each event.

use hooks_agent_core::agent::CallOutcome;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::error::AgentError;
use hooks_agent_core::event::{HookEvent, PostActing, PostCall, PreActing, PreCall, Settled};
use hooks_agent_core::message::{ApprovedBy, Messages, Msg, Role, ToolUse};
use hooks_agent_core::tool::ToolError;
use hooks_core::Hookable;
use serde_json::{Map, Value, json, to_value};

use crate::entry::{Data, Ended, Failure, Input, Progress, Request, Shown};
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
            self.flush(kept, (event.kind().name(), tool_call), || held(event));
        }
        self.write(kept, cx, event);
    }

    fn write(&self, kept: &mut Kept, cx: &CallContext, event: &HookEvent<'_>) {
        match event {
            HookEvent::PreCall(event) => self.pre_call(kept, event),
            HookEvent::PreReasoning(event) => {
                let (model, tools) = (event.model_name(), event.tools());
                let request = Request::of(model, event.messages(), tools, event.system_message());
                self.request(kept, &request, true);
                self.note(kept, "reasoning_started");
            }
            HookEvent::PreSummary(event) => {
                let model = event.model_name();
                let request = Request::of(model, event.messages(), &[], event.system_message());
                self.request(kept, &request, false);
                self.note(kept, "summary_started");
            }
            HookEvent::ReasoningChunk(event) => {
                self.add_chunk(kept, "reasoning_chunk", event.incremental());
            }
            HookEvent::SummaryChunk(event) => {
                self.add_chunk(kept, "summary_chunk", event.incremental());
            }
            HookEvent::PostReasoning(event) => self.answer(kept, cx, "reasoned", event.message()),
            HookEvent::PostSummary(event) => self.answer(kept, cx, "summarized", event.message()),
            HookEvent::PreActing(event) => self.pre_acting(kept, event),
            HookEvent::ActingChunk(event) => {
                let call = kept.call(&event.tool_use().id, &event.tool_use().name);
                let progress = Progress { call: &call, text: event.chunk() };
                let shown = Shown::up_to(self.most(kept), &progress);
                self.add(kept, "tool_chunk", &Data::Progress(shown), |_| {});
            }
            HookEvent::PostActing(event) => self.post_acting(kept, event),
            HookEvent::PostCall(event) => self.post_call(kept, event),
            // The model reads the error of a tool; it does not fail the call.
            HookEvent::Error(event) if !event.error().is::<ToolError>() => {
                let error = event.error().downcast_ref::<AgentError>();
                let shows_text = kept.shows.errors && kept.is_shown();
                kept.error =
                    Some(Failure::of_call(error, (kept.attempts, kept.model.clone()), shows_text));
            }
            HookEvent::Settled(event) => self.settle(kept, event),
            _ => {}
        }
    }

    fn pre_call(&self, kept: &mut Kept, event: &PreCall<'_>) {
        let title = kept.is_shown().then(|| title(event.messages())).flatten();
        let input = Input { messages: event.messages() };
        let titled = |run: &mut RunSummary| run.title = title.map(Into::into);
        self.add(kept, "input", &Data::Input(Shown::up_to(self.most(kept), &input)), titled);
        if event.resumes() {
            self.end_waiting(event.context());
            self.shared.keep_resumed(event.context());
        }
    }

    /// Ends the runs that waited on the thread of a call that resumes them.
    fn end_waiting(&self, cx: &CallContext) {
        let (ring, by) = (&self.shared.ring, cx.run_id());
        for log in ring.waiting(cx.agent_name(), cx.thread_id()) {
            ring.push(&log, "resumed", &Data::Plain(&json!({ "by": by })), |run| {
                run.state = RunState::Resumed;
                run.resumed_by = Some(by);
            });
            self.shared.keep(&log);
        }
    }

    fn request(&self, kept: &mut Kept, request: &Request<'_>, is_round: bool) {
        kept.attempts = 0;
        // Chunks that nobody confirmed are of an answer that was not used.
        self.hide_draft(kept, None);
        let rounds = u64::from(is_round);
        let shown = Shown::up_to(self.most(kept), request);
        self.add(kept, "request", &Data::Request(shown), |run| run.rounds += rounds);
    }

    fn answer(&self, kept: &mut Kept, cx: &CallContext, kind: &'static str, answer: &Msg) {
        self.hide_draft(kept, Some(answer));
        let usage = cx.usage();
        let answer = cx.shown_answer(answer);
        let shown = Shown::up_to(self.most(kept), &*answer);
        self.add(kept, kind, &Data::Message(shown), |run| run.set_usage(usage));
    }

    fn pre_acting(&self, kept: &mut Kept, event: &PreActing<'_>) {
        let (cx, call) = (event.context(), event.tool_use());
        // Without its hidden arguments.
        let mut shown = ToolUse::new(call.id.clone(), call.name.clone(), call.input.clone());
        shown.invalid_input.clone_from(&call.invalid_input);
        shown.signature.clone_from(&call.signature);
        kept.keep_call(shown);
        if let Some(ApprovedBy { user, approval: Some(approval), .. }) = cx.approved_by(&call.id) {
            let data =
                json!({ "id": call.id, "tool": call.name, "by": user, "approval": approval });
            self.add(kept, "permission_remembered", &Data::Plain(&data), |_| {});
        }
    }

    fn post_acting(&self, kept: &mut Kept, event: &PostActing<'_>) {
        let result = event.tool_result();
        kept.end_call(&event.tool_use().id);
        let shown = Shown::up_to(self.most(kept), result);
        let errors = u64::from(result.is_error);
        self.add(kept, "tool_finished", &Data::Result(shown), |run| {
            run.tools += 1;
            run.tool_errors += errors;
        });
    }

    fn post_call(&self, kept: &mut Kept, event: &PostCall<'_>) {
        let (cx, reply) = (event.context(), event.final_message());
        kept.is_waiting = !reply.pending().is_empty();
        for pending in reply.pending() {
            let shown = Shown::up_to(self.most(kept), pending);
            self.add(kept, "permission_asked", &Data::Pending(shown), |_| {});
        }
        let reply = cx.shown_answer(reply);
        let shown = Shown::up_to(self.most(kept), &*reply);
        self.add(kept, "finished", &Data::Message(shown), |_| {});
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
        let error = kept.error.take().unwrap_or_else(|| Failure::of_call(None, (0, None), false));
        let failure = (state == RunState::Failed).then_some(error);
        if let Some(failure) = &failure {
            self.add(kept, "failed", &Data::Failure(failure), |_| {});
        }
        let outcome = if state == RunState::Waiting { RunState::Finished } else { state };
        let data = Ended { outcome: outcome.name(), reason };
        let (usage, ended) = (cx.usage(), now());
        self.add(kept, "settled", &Data::Ended(&data), |run| {
            run.state = state;
            run.reason = reason;
            run.error = failure.as_ref().map(|failure| failure.kind.clone());
            run.failure = failure;
            run.ended = Some(ended);
            run.set_usage(usage);
        });
        if let Some(log) = &kept.log {
            log.end();
            self.shared.keep(log);
        }
        if kept.is_waiting || self.shared.announced.concern(cx.agent_name(), cx.thread_id()) {
            self.shared.asked.send_replace(());
        }
    }
}

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
