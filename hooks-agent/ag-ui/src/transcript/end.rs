//! Ends calls in the transcript: with a reply, with questions or with an error.

use hooks_agent_core::error::{AgentError, ErrorKind};
use hooks_agent_core::message::{GenerateReason, Msg, PendingCall, PendingReason, Role};
use serde_json::{Map, Value, json};

use crate::protocol::{Event, EventKind, Interrupt, Message, Outcome, SubagentOutcome};
use crate::request::kept::KeptCall;
use crate::request::reply::Reply;
use crate::request::shared::message_id;
use crate::timestamp::rfc3339;
use crate::transcript::answer::Answer;
use crate::transcript::failure::{code_of, message_of};
use crate::transcript::machine::{About, Transcript};
use crate::transcript::replay::replay;

impl Transcript {
    /// Ends the run with the reply.
    pub(super) fn finish(&mut self, reply: &Msg, events: &mut Vec<Event>) {
        let reason = reply.reason.unwrap_or(GenerateReason::ModelStop);
        let is_cancelled = reason == GenerateReason::Interrupted;
        if !is_cancelled {
            self.report_results(events);
        }
        self.close_agents(events);
        let mut kinds = Vec::new();
        self.calls[0].close(&mut kinds);
        self.tell(0, kinds, events);
        let is_corrected = !is_cancelled && self.show_reply(reply, events);
        let kept = self.request.kept(reply.pending());
        let waiting: Vec<_> = reply.pending().iter().cloned().zip(kept).collect();
        let outcome = if is_cancelled { Outcome::Cancelled } else { self.outcome(&waiting) };
        let is_stale = self.calls.iter().any(|call| call.is_stale) && !is_cancelled;
        self.show_state(&outcome, events);
        if matches!(outcome, Outcome::Interrupt { .. }) || is_corrected || is_stale {
            self.show_all(events);
        }
        self.end(reason, outcome, events);
    }

    /// Returns how a run ends after which these tool calls wait.
    fn outcome(&self, waiting: &[(PendingCall, KeptCall)]) -> Outcome {
        let asked = waiting.iter().filter(|(_, kept)| !kept.is_frontend);
        let interrupts: Vec<_> =
            asked.map(|(pending, kept)| self.interrupt(pending, kept)).collect();
        if interrupts.is_empty() {
            let pending = waiting.iter().map(|(_, kept)| kept.wire.clone());
            return Outcome::Success { pending_tool_call_ids: pending.collect() };
        }
        Outcome::Interrupt { interrupts }
    }

    /// Sends the state of the client back, if it waits for answers.
    fn show_state(&self, outcome: &Outcome, events: &mut Vec<Event>) {
        if matches!(outcome, Outcome::Interrupt { .. }) {
            let snapshot = self.about.state.clone().unwrap_or_else(|| json!({}));
            events.push(Event::new(EventKind::StateSnapshot { snapshot }));
        }
    }

    fn end(&mut self, reason: GenerateReason, outcome: Outcome, events: &mut Vec<Event>) {
        let is_plain = matches!(reason, GenerateReason::ModelStop | GenerateReason::Interrupted);
        let is_success = matches!(outcome, Outcome::Success { .. });
        let name = serde_json::to_value(reason).unwrap_or_default();
        let result = (is_success && !is_plain).then(|| json!({ "reason": name }));
        let About { thread_id, run_id, is_old, .. } = &self.about;
        let outcome = match outcome {
            Outcome::Cancelled if *is_old => {
                let (name, value) = ("hooks.cancelled", json!({}));
                events.push(Event::new(EventKind::Custom { name, value }));
                None
            }
            Outcome::Success { .. } if *is_old => None,
            outcome => Some(outcome),
        };
        let (thread_id, run_id) = (thread_id.clone(), run_id.clone());
        let usage = self.request.usage();
        let kind = EventKind::RunFinished { thread_id, run_id, result, outcome, usage };
        events.push(Event::new(kind));
        self.is_over = true;
    }

    /// Ends a run in which nothing was left to do: the client gets the conversation as it is, and what waits.
    pub(crate) fn finish_at_once(
        &mut self,
        waiting: &[(PendingCall, KeptCall)],
        events: &mut Vec<Event>,
    ) {
        let outcome = self.outcome(waiting);
        self.show_state(&outcome, events);
        self.show_all(events);
        let reason = if waiting.is_empty() {
            GenerateReason::ModelStop
        } else {
            GenerateReason::ActingStopRequested
        };
        self.end(reason, outcome, events);
    }

    /// Ends the run with an error. What is open stays open.
    pub(crate) fn fail(&mut self, error: Option<&AgentError>) -> Vec<Event> {
        if self.is_over {
            return Vec::new();
        }
        self.is_over = true;
        let (code, message) = match error {
            Some(error) => (code_of(error), message_of(error)),
            None => ("panicked", "the call panicked".to_owned()),
        };
        let usage = self.request.usage();
        vec![Event::new(EventKind::RunError { message, code: code.to_owned(), usage })]
    }

    /// Shows the reply if it was not shown. Returns whether what was shown of it must be corrected.
    fn show_reply(&mut self, reply: &Msg, events: &mut Vec<Event>) -> bool {
        let history = self.request.memory.get().map(|memory| memory.messages()).unwrap_or_default();
        if self.request.keep_reply(reply, &history) {
            self.request.write_replies();
            return true;
        }
        let id = message_id(reply);
        let is_recovered = reply.reason == Some(GenerateReason::Recovered);
        let is_known = id.is_some() || self.calls[0].last.is_some() && !is_recovered;
        let text = reply.text();
        if is_known || text.is_empty() || reply.role == Role::Tool {
            return false;
        }
        let shown = replay(&history, &self.request.replies(), &[]);
        self.request.keep_answer(reply, &history, shown.last.as_deref());
        self.request.write_replies();
        let message_id = self.request.reply_id();
        let start =
            EventKind::TextMessageStart { message_id: message_id.clone(), role: "assistant" };
        let content = EventKind::TextMessageContent { message_id: message_id.clone(), delta: text };
        self.tell(0, vec![start, content, EventKind::TextMessageEnd { message_id }], events);
        false
    }

    /// Ends a sub-agent with its reply.
    pub(super) fn finish_agent(&mut self, at: usize, reply: &Msg, events: &mut Vec<Event>) {
        let mut kinds = Vec::new();
        self.calls[at].close(&mut kinds);
        self.tell(at, kinds, events);
        if self.correct_agent(at, reply) {
            self.show_all(events);
        }
        let kind = match reply.reason {
            Some(GenerateReason::Interrupted) => self.agent_error(ErrorKind::Interrupted),
            _ if reply.pending().is_empty() => {
                EventKind::SubagentFinished { outcome: SubagentOutcome::Success }
            }
            _ => {
                let run = self.calls[at].run;
                let ids = &self.request.ids;
                let interrupts = reply.pending().iter().map(|pending| {
                    let wire = ids.waiting(run, &pending.id, !pending.agents.is_empty());
                    self.request.kept_call(wire, pending).interrupt
                });
                let outcome = SubagentOutcome::Suspended { interrupt_ids: interrupts.collect() };
                EventKind::SubagentFinished { outcome }
            }
        };
        self.tell(at, vec![kind], events);
    }

    /// Replaces the last answer of a sub-agent if hooks changed it for its caller.
    fn correct_agent(&mut self, at: usize, reply: &Msg) -> bool {
        let call = &mut self.calls[at];
        let Some((place, last)) = call.last.clone() else { return false };
        let of_reply = Reply::of(reply);
        if of_reply == Reply::of(&last)
            || reply.role != Role::Assistant
            || !reply.pending().is_empty()
        {
            return false;
        }
        let id = call.messages.get(place.start).map(Message::id).unwrap_or_default();
        let base = id.strip_suffix("-r1").unwrap_or(id).to_owned();
        let (ids, run) = (&self.request.ids, call.run);
        let mut answer = Answer::new(base, call.tag.clone());
        for block in &of_reply.put_into(&last).content {
            answer.push(block, |id| ids.tool_call(run, id), &mut Vec::new());
        }
        call.messages.splice(place, answer.messages);
        true
    }

    pub(super) fn fail_agent(&mut self, at: usize, kind: ErrorKind, events: &mut Vec<Event>) {
        let mut kinds = Vec::new();
        self.calls[at].close(&mut kinds);
        kinds.push(self.agent_error(kind));
        self.tell(at, kinds, events);
    }

    fn agent_error(&self, kind: ErrorKind) -> EventKind {
        let message = "the sub-agent did not finish".to_owned();
        EventKind::SubagentError { message, code: kind.as_str().to_owned() }
    }

    /// Ends the sub-agents that did not end by themselves.
    fn close_agents(&mut self, events: &mut Vec<Event>) {
        for at in (1..self.calls.len()).rev() {
            if !self.calls[at].is_over {
                self.fail_agent(at, ErrorKind::Cancelled, events);
            }
        }
    }

    fn interrupt(&self, pending: &PendingCall, kept: &KeptCall) -> Interrupt {
        let waiting = self.request.memory.get().map(|memory| memory.waiting()).unwrap_or_default();
        let question = waiting.iter().find(|question| question.call_id == pending.id);
        let text = match (&pending.question, &pending.why) {
            (Some(question), _) => question.description.as_str(),
            (None, PendingReason::Permission(text)) => text,
            _ => "",
        };
        let message = match text {
            "" => format!("Run {}?", pending.call.name),
            text => text.to_owned(),
        };
        let mut hooks = json!({ "tool": pending.call.name, "input": pending.call.input });
        if !pending.agents.is_empty() {
            hooks["agents"] = json!(pending.agents);
        }
        if !pending.askers.is_empty() {
            hooks["askers"] = json!(pending.askers);
        }
        if !pending.notes.is_empty() {
            hooks["notes"] = json!(pending.notes);
        }
        Interrupt {
            id: kept.interrupt.clone(),
            reason: "tool_call",
            tool_call_id: kept.wire.clone(),
            message,
            response_schema: response_schema(),
            expires_at: question.and_then(|question| question.expires).map(rfc3339),
            metadata: Map::from_iter([("hooks".to_owned(), hooks)]),
        }
    }
}

fn response_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "approved": { "type": "boolean" },
            "editedArgs": { "type": "object" },
            "reason": { "type": "string" },
        },
        "required": ["approved"],
    })
}
