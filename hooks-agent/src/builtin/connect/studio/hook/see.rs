//! What the hook writes at each event.

use hooks_core::Hookable;
use serde::Serialize;
use serde_json::{Map, Value, json, to_value};

use crate::agent::CallOutcome;
use crate::builtin::connect::studio::hook::body::{self, body};
use crate::builtin::connect::studio::hook::content;
use crate::builtin::connect::studio::hook::order::Order;
use crate::builtin::connect::studio::hook::recorder::{Entry, Recorder};
use crate::builtin::connect::studio::hook::run::Kept;
use crate::builtin::connect::studio::hook::studio_hook::StudioHook;
use crate::builtin::connect::studio::ring::{RunHead, RunState, RunSummary, now};
use crate::call::CallContext;
use crate::error::AgentError;
use crate::event::{HookEvent, PostActing, PostCall, PreActing, PreCall, Settled};
use crate::message::{Messages, Msg, Role, ToolUse};
use crate::tool::ToolError;

/// How many characters of the first text are the title of a run.
const TITLE: usize = 120;

impl Recorder {
    /// Writes what an event says.
    pub(super) fn see(&self, event: &HookEvent<'_>) {
        let cx = event.context();
        let Some(run) = self.claim(cx) else { return };
        let mut kept = run.lock();
        let kept = &mut *kept;
        // Hooks may come and go between rounds.
        let begins_round = matches!(event, HookEvent::PreReasoning(_) | HookEvent::PreSummary(_));
        if kept.order.is_none() || begins_round {
            let order = Order::of(&event.agent().hook_plan(), StudioHook::NAME);
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
                let tools: Vec<_> = event.tools().iter().map(|tool| &*tool.name).collect();
                let request = Request {
                    model: event.model_name(),
                    system: event.system_message(),
                    messages: event.messages(),
                    tools,
                };
                self.request(kept, cx, &request, true);
                self.note(kept, cx, "reasoning_started");
            }
            HookEvent::PreSummary(event) => {
                let request = Request {
                    model: event.model_name(),
                    system: event.system_message(),
                    messages: event.messages(),
                    tools: Vec::new(),
                };
                self.request(kept, cx, &request, false);
                self.note(kept, cx, "summary_started");
            }
            HookEvent::ReasoningChunk(event) => {
                kept.draft.so_far = Some(event.accumulated().clone());
                self.add_chunk(kept, cx, "reasoning_chunk", event.incremental());
            }
            HookEvent::SummaryChunk(event) => {
                kept.draft.so_far = Some(event.accumulated().clone());
                self.add_chunk(kept, cx, "summary_chunk", event.incremental());
            }
            HookEvent::PostReasoning(event) => self.answer(kept, cx, "reasoned", event.message()),
            HookEvent::PostSummary(event) => self.answer(kept, cx, "summarized", event.message()),
            HookEvent::PreActing(event) => pre_acting(kept, event),
            HookEvent::ActingChunk(event) => {
                let call = kept.call(&event.tool_use().id, &event.tool_use().name);
                let hidden = || content::tool_chunk(&call, event.chunk());
                let data = Progress { call: &call, text: event.chunk() };
                self.add(kept, cx, Entry { kind: "tool_chunk", data, hidden }, |_| {});
            }
            HookEvent::PostActing(event) => self.post_acting(kept, event),
            HookEvent::PostCall(event) => self.post_call(kept, event),
            HookEvent::Error(event) => {
                // The model reads the error of a tool; it does not fail the call.
                if !event.error().is::<ToolError>() {
                    let error = event.error().downcast_ref::<AgentError>();
                    kept.error = Some(error.map_or("other", |error| error.kind().as_str()));
                }
            }
            HookEvent::Settled(event) => self.settle(kept, event),
        }
    }

    fn pre_call(&self, kept: &mut Kept, event: &PreCall<'_>) {
        let title = kept.is_shown().then(|| title(event.messages())).flatten();
        let messages = event.messages();
        let hidden = || content::messages(messages);
        let entry = Entry { kind: "input", data: Input { messages }, hidden };
        self.add(kept, event.context(), entry, |run| run.title = title.map(Into::into));
        if event.resumes() {
            self.end_waiting(kept, event.context());
        }
    }

    /// Ends the runs that waited on the thread of a call that resumes them.
    fn end_waiting(&self, kept: &mut Kept, cx: &CallContext) {
        let own = kept.head(|| RunHead::of(cx));
        let ring = &self.shared.ring;
        for head in ring.waiting(&own.agent, &own.thread) {
            if let Some(json) = body(&head, "resumed", Some(json!({ "by": own.run }))) {
                let finished = |run: &mut RunSummary| run.state = RunState::Finished;
                ring.push(&head, body::event(json, true), finished);
            }
        }
    }

    fn request(&self, kept: &mut Kept, cx: &CallContext, request: &Request<'_>, is_round: bool) {
        // Chunks that nobody confirmed are of an answer that was not used.
        self.hide_draft(kept, None);
        let Request { model, system, messages, tools } = request;
        let count = messages.len();
        let hidden = || {
            json!({
                "hidden": true, "model": model, "messages": count, "tools": tools,
                "system_chars": system.map_or(0, |system| system.text().chars().count()),
            })
        };
        let mut data = json!({ "model": model, "messages": count, "tools": tools });
        if let Some(system) = system {
            data["system"] = system.text().into();
        }
        let rounds = u64::from(is_round);
        self.add(kept, cx, Entry { kind: "request", data, hidden }, |run| run.rounds += rounds);
    }

    fn answer(&self, kept: &mut Kept, cx: &CallContext, kind: &str, answer: &Msg) {
        self.hide_draft(kept, Some(answer));
        let hidden = || content::message(answer);
        let usage = cx.usage();
        self.add(kept, cx, Entry { kind, data: answer, hidden }, |run| run.set_usage(usage));
    }

    fn post_acting(&self, kept: &mut Kept, event: &PostActing<'_>) {
        let result = event.tool_result();
        kept.calls.remove(&event.tool_use().id);
        let hidden = || content::tool_result(result);
        let entry = Entry { kind: "tool_finished", data: result, hidden };
        self.add(kept, event.context(), entry, |run| run.tools += 1);
    }

    fn post_call(&self, kept: &mut Kept, event: &PostCall<'_>) {
        let (cx, reply) = (event.context(), event.final_message());
        kept.is_waiting = !reply.pending().is_empty();
        for pending in reply.pending() {
            let hidden = || content::pending(pending);
            self.add(kept, cx, Entry { kind: "permission_asked", data: pending, hidden }, |_| {});
        }
        let hidden = || content::message(reply);
        self.add(kept, cx, Entry { kind: "finished", data: reply, hidden }, |_| {});
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
            CallOutcome::Failed(_) => (RunState::Failed, None),
            CallOutcome::Interrupted => (RunState::Interrupted, None),
            CallOutcome::Cancelled => (RunState::Cancelled, None),
            CallOutcome::Panicked => (RunState::Panicked, None),
        };
        let error = (state == RunState::Failed).then(|| kept.error.unwrap_or("other"));
        if let Some(kind) = error {
            let data = json!({ "kind": kind });
            self.add(
                kept,
                cx,
                Entry { kind: "failed", data: &data, hidden: || data.clone() },
                |_| {},
            );
        }
        let outcome = if state == RunState::Waiting { RunState::Finished } else { state };
        let mut data = json!({ "outcome": outcome.name() });
        if let Some(reason) = reason {
            data["reason"] = json!(reason);
        }
        let (usage, ended) = (cx.usage(), now());
        let entry = Entry { kind: "settled", data: &data, hidden: || data.clone() };
        self.add(kept, cx, entry, |run| {
            run.state = state;
            run.reason = reason;
            run.error = error;
            run.ended = Some(ended);
            run.set_usage(usage);
        });
        let head = kept.head(|| RunHead::of(cx));
        self.shared.ring.end(head.run);
        if kept.is_waiting || self.shared.announced.concern(&head.agent, &head.thread) {
            self.shared.asked.send_replace(());
        }
    }
}

/// What a call got.
#[derive(Serialize)]
struct Input<'a> {
    messages: &'a Messages,
}

/// The progress of a tool.
#[derive(Serialize)]
struct Progress<'a> {
    call: &'a ToolUse,
    text: &'a str,
}

/// What is sent to the model.
struct Request<'a> {
    model: &'a str,
    system: Option<&'a Msg>,
    messages: &'a Messages,
    tools: Vec<&'a str>,
}

/// Keeps a tool call as hooks left it, until it ends.
fn pre_acting(kept: &mut Kept, event: &PreActing<'_>) {
    let call = event.tool_use();
    kept.calls.insert(call.id.clone(), call.clone());
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
        HookEvent::PostReasoning(event) => put("message", to_value(event.message())),
        HookEvent::PostSummary(event) => put("message", to_value(event.message())),
        HookEvent::PostCall(event) => put("message", to_value(event.final_message())),
        HookEvent::PreActing(event) => put("tool_use", to_value(event.tool_use())),
        HookEvent::PostActing(event) => put("tool_result", to_value(event.tool_result())),
        _ => return None,
    }
    Some(held.into())
}
