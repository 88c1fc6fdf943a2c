//! The events of a call as events of the protocol.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hooks_agent_core::message::{ContentBlock, Msg, PendingCall, ToolResult, ToolUse};
use hooks_agent_core::stream::{AgentEvent, AgentEventKind};
use serde_json::{Value, json};

use crate::protocol::{Content, Event, EventKind, Message};
use crate::request::kept::KeptCall;
use crate::request::shared::Request;
use crate::transcript::answer::{Answer, looks_same, tool_calls};
use crate::transcript::call::Call;
use crate::transcript::content::content_of_output;
use crate::transcript::replay::{Replay, result_id};

/// Turns the events of a call into events of the protocol. It owns what is open, waits for nothing and
/// knows nothing of HTTP.
pub(crate) struct Transcript {
    pub(super) about: About,
    pub(super) request: Arc<Request>,
    pub(super) calls: Vec<Call>,
    /// The messages of sub-agents of earlier runs, each behind the message of this id.
    pub(super) kept: Vec<(Option<String>, Value)>,
    /// The tool calls that wait for a result that no event of the call reports, by the model's id.
    unreported: HashMap<String, String>,
    /// The tool calls of sub-agents that do not run.
    refused: Vec<RefusedBelow>,
    /// The tool calls that the client knows, by their ids on the wire.
    known: HashSet<String>,
    pub(super) is_over: bool,
}

/// What the events say about the run.
pub(crate) struct About {
    pub(crate) thread_id: String,
    pub(crate) run_id: String,
    pub(crate) parent_run_id: Option<String>,
    /// The state that the client sent.
    pub(crate) state: Option<Value>,
    /// Whether the client speaks a version before 1.0.
    pub(crate) is_old: bool,
}

/// What the run goes on with.
#[derive(Debug, Default)]
pub(crate) struct Resumed {
    /// The messages of sub-agents of earlier runs, each behind the message of this id.
    pub(crate) kept: Vec<(Option<String>, Value)>,
    /// The tool calls that waited and that the client does not answer itself, by the model's id.
    pub(crate) waited: HashSet<String>,
    /// The tool calls of sub-agents that do not run.
    pub(crate) refused: Vec<RefusedBelow>,
    /// The tool calls that the client knows, by their ids on the wire.
    pub(crate) known: HashSet<String>,
}

/// A tool call of a sub-agent that does not run.
#[derive(Debug)]
pub(crate) struct RefusedBelow {
    wire: String,
    call: ToolUse,
    /// The result.
    text: String,
}

impl RefusedBelow {
    pub(crate) fn new(pending: &PendingCall, kept: &KeptCall, text: &str) -> Self {
        let (wire, call) = (kept.wire.clone(), pending.call.clone());
        Self { wire, call, text: text.to_owned() }
    }
}

impl Transcript {
    /// Creates the transcript of a call. `before` is the conversation when it came.
    pub(crate) fn new(
        about: About,
        request: Arc<Request>,
        before: &Replay,
        resumed: Resumed,
    ) -> Self {
        let Resumed { kept, waited, refused, known } = resumed;
        let mut root = Call::new(request.run, None, None);
        root.arguments = before.arguments();
        let of_wire = |id: String| before.last_calls.get(&id).cloned().map(|wire| (id, wire));
        let unreported = waited.into_iter().filter_map(of_wire).collect();
        let calls = vec![root];
        Self { about, request, calls, kept, unreported, refused, known, is_over: false }
    }

    /// Returns what an event of the call is for the client.
    pub(crate) fn of(&mut self, event: AgentEvent) -> Vec<Event> {
        let mut events = Vec::new();
        if self.is_over {
            return events;
        }
        let is_root = event.run == self.request.run;
        if let AgentEventKind::Started = event.kind {
            if is_root {
                self.start_run(&event, &mut events);
            } else {
                self.start_agent(&event, &mut events);
            }
        } else if let Some(at) =
            self.calls.iter().position(|call| call.run == event.run && !call.is_over)
        {
            match event.kind {
                AgentEventKind::Finished(reply) if is_root => self.finish(&reply, &mut events),
                AgentEventKind::Finished(reply) => self.finish_agent(at, &reply, &mut events),
                AgentEventKind::Failed { kind } => self.fail_agent(at, kind, &mut events),
                kind => self.go_on(at, kind, &mut events),
            }
        }
        self.known.extend(events.iter().flat_map(|event| event.kind.tool_calls()));
        if self.about.is_old {
            events.retain(|event| event.subagent_run_id.is_none());
        }
        events
    }

    fn start_run(&mut self, event: &AgentEvent, events: &mut Vec<Event>) {
        let About { thread_id, run_id, parent_run_id, .. } = &self.about;
        let kind = EventKind::RunStarted {
            thread_id: thread_id.clone(),
            run_id: run_id.clone(),
            protocol_version: "1.0",
            parent_run_id: parent_run_id.clone(),
        };
        events.push(Event::new(kind).with("run", event.run.to_string()));
    }

    fn start_agent(&mut self, event: &AgentEvent, events: &mut Vec<Event>) {
        let parent = event.parent.unwrap_or(self.request.run);
        let through = event.tool_call.as_deref().map(|call| (parent, call));
        let wire = self.request.ids.begin(event.run, through);
        let tag = event.run.to_string();
        let of_parent = self.calls.iter().find(|call| call.run == parent);
        let kind = EventKind::SubagentStarted {
            name: event.agent.to_string(),
            parent_subagent_run_id: of_parent.and_then(|call| call.tag.clone()),
            parent_tool_call_id: wire.clone(),
        };
        self.calls.push(Call::new(event.run, Some(tag), wire.clone()));
        let at = self.calls.len() - 1;
        self.tell(at, vec![kind], events);
        let prefix = format!("{}/", wire.unwrap_or_default());
        let is_own = |id: &str| id.strip_prefix(&prefix).is_some_and(|rest| !rest.contains('/'));
        let (own, refused): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.refused).into_iter().partition(|it| is_own(&it.wire));
        self.refused = refused;
        for RefusedBelow { wire, call, text } in own {
            let mut kinds = Vec::new();
            self.introduce(at, &wire, &call, &mut kinds);
            self.tell(at, kinds, events);
            self.report(at, wire, &ToolResult::error(&call, text), events);
        }
    }

    fn go_on(&mut self, at: usize, kind: AgentEventKind, events: &mut Vec<Event>) {
        let mut kinds = Vec::new();
        match kind {
            AgentEventKind::ReasoningStarted => self.start_asking(at, false, events),
            AgentEventKind::SummaryStarted => self.start_asking(at, true, events),
            AgentEventKind::ReasoningChunk(block) | AgentEventKind::SummaryChunk(block) => {
                self.show(at, &block, &mut kinds);
            }
            AgentEventKind::Reasoned(msg) | AgentEventKind::Summarized(msg) => {
                self.complete(at, &msg, events);
            }
            AgentEventKind::ToolStarted(call) => self.start_tool(at, &call, &mut kinds),
            AgentEventKind::ToolChunk { call, text } => {
                let id = self.wire(at, &call.id);
                let value = json!({ "toolCallId": id, "text": text });
                kinds.push(EventKind::Custom { name: "hooks.tool_progress", value });
            }
            AgentEventKind::Warning { text } => {
                let value = json!({ "text": text });
                kinds.push(EventKind::Custom { name: "hooks.warning", value });
            }
            AgentEventKind::ToolFinished(result) => self.finish_tool(at, &result, events),
            _ => {}
        }
        self.tell(at, kinds, events);
    }

    fn start_asking(&mut self, at: usize, is_summary: bool, events: &mut Vec<Event>) {
        if at == 0 {
            self.report_results(events);
        }
        self.request.ids.next_answer(self.calls[at].run);
        let mut kinds = Vec::new();
        self.calls[at].start_asking(is_summary, &mut kinds);
        self.tell(at, kinds, events);
    }

    fn show(&mut self, at: usize, block: &ContentBlock, kinds: &mut Vec<EventKind>) {
        let (ids, call) = (&self.request.ids, &mut self.calls[at]);
        let run = call.run;
        let draft =
            call.draft.get_or_insert_with(|| Answer::new(ids.message(run), call.tag.clone()));
        draft.push(block, |id| ids.tool_call(run, id), kinds);
    }

    /// Ends an answer as hooks left it: shows what was not shown, and corrects what was shown otherwise.
    fn complete(&mut self, at: usize, msg: &Arc<Msg>, events: &mut Vec<Event>) {
        let (ids, call) = (&self.request.ids, &mut self.calls[at]);
        let (run, mut kinds) = (call.run, Vec::new());
        let new = || Answer::new(ids.message(run), call.tag.clone());
        let mut complete = new();
        for block in &msg.content {
            complete.push(block, |id| ids.tool_call(run, id), &mut Vec::new());
        }
        let mut shown = call.draft.take().unwrap_or_else(new);
        let is_shown = !shown.messages.is_empty();
        let known: HashSet<_> = tool_calls(&shown.messages).map(|call| call.id.clone()).collect();
        for block in &msg.content {
            let is_new = match block {
                ContentBlock::ToolUse(call) => !known.contains(&ids.tool_call(run, &call.id)),
                _ => !is_shown,
            };
            if is_new {
                shown.push(block, |id| ids.tool_call(run, id), &mut kinds);
            }
        }
        shown.close(&mut kinds);
        let is_same = looks_same(&shown.messages, &complete.messages);
        let arguments = tool_calls(&complete.messages)
            .map(|call| (call.id.clone(), call.function.arguments.clone()));
        call.arguments.extend(arguments);
        let from = call.messages.len();
        if call.tag.is_some() {
            call.messages.append(&mut complete.messages);
        }
        call.last = Some((from..call.messages.len(), msg.clone()));
        self.tell(at, kinds, events);
        if !is_same {
            self.show_all(events);
        }
        let mut kinds = Vec::new();
        self.calls[at].stop_asking(&mut kinds);
        self.tell(at, kinds, events);
    }

    fn start_tool(&mut self, at: usize, call: &ToolUse, kinds: &mut Vec<EventKind>) {
        let id = self.wire(at, &call.id);
        self.introduce(at, &id, call, kinds);
        let of_agent = &mut self.calls[at];
        of_agent.start_tool(&id, kinds);
        let shown =
            of_agent.arguments.get(&id).and_then(|text| serde_json::from_str::<Value>(text).ok());
        if shown.is_some_and(|shown| shown != call.input) {
            let value = json!({ "toolCallId": id, "input": call.input });
            kinds.push(EventKind::Custom { name: "hooks.tool_call_changed", value });
        }
    }

    /// Shows a tool call of a sub-agent that waited, to a client that does not know it: another device, or a
    /// page that was loaded anew. Memory has none of its messages.
    fn introduce(&mut self, at: usize, id: &str, call: &ToolUse, kinds: &mut Vec<EventKind>) {
        let of_agent = &mut self.calls[at];
        let Some(tag) = of_agent.tag.clone() else { return };
        if self.known.insert(id.to_owned()) {
            let mut shown = Answer::new(format!("{tag}-resumed-{id}"), Some(tag));
            shown.push(&ContentBlock::ToolUse(call.clone()), |_| id.to_owned(), kinds);
            of_agent.messages.append(&mut shown.messages);
        }
    }

    fn finish_tool(&mut self, at: usize, result: &ToolResult, events: &mut Vec<Event>) {
        let id = self.wire(at, &result.id);
        if at == 0 {
            self.unreported.remove(&result.id);
        }
        let mut kinds = Vec::new();
        let call = ToolUse::invalid(&result.id, &result.name, "");
        self.introduce(at, &id, &call, &mut kinds);
        self.tell(at, std::mem::take(&mut kinds), events);
        self.report(at, id.clone(), result, events);
        self.calls[at].stop_tool(&id, &mut kinds);
        self.tell(at, kinds, events);
    }

    fn report(&mut self, at: usize, id: String, result: &ToolResult, events: &mut Vec<Event>) {
        let mut content = content_of_output(&result.output);
        if self.about.is_old {
            content = Content::Text(result.output.as_str().to_owned());
        }
        let call = &mut self.calls[at];
        let kind = EventKind::ToolCallResult {
            message_id: result_id(&id),
            tool_call_id: id.clone(),
            content: content.clone(),
            role: "tool",
        };
        let mut event = Event { subagent_run_id: call.tag.clone(), ..Event::new(kind) };
        if result.is_error {
            event = event.with("isError", true);
        }
        if call.tag.is_some() {
            call.messages.push(Message::Tool {
                id: result_id(&id),
                tool_call_id: id,
                content,
                subagent_run_id: call.tag.clone(),
                metadata: event.metadata.clone(),
            });
        }
        events.push(event);
    }

    /// Reports the results of tool calls that did not run: somebody decided otherwise, which no event of
    /// the call says.
    pub(super) fn report_results(&mut self, events: &mut Vec<Event>) {
        if self.unreported.is_empty() {
            return;
        }
        let history = self.request.memory.get().map(|memory| memory.messages()).unwrap_or_default();
        let asks = |msg: &Msg| msg.tool_uses().any(|call| self.unreported.contains_key(&call.id));
        let from = history.iter().rposition(asks).unwrap_or_default();
        for result in history.iter().skip(from).flat_map(Msg::tool_results) {
            if let Some(wire) = self.unreported.remove(&result.id) {
                self.report(0, wire, result, events);
            }
        }
    }

    pub(super) fn wire(&self, at: usize, id: &str) -> String {
        self.request.ids.tool_call(self.calls[at].run, id)
    }

    /// Adds events of a call.
    pub(super) fn tell(&self, at: usize, kinds: Vec<EventKind>, events: &mut Vec<Event>) {
        let tag = &self.calls[at].tag;
        let of_call = |kind| Event { subagent_run_id: tag.clone(), ..Event::new(kind) };
        events.extend(kinds.into_iter().map(of_call));
    }
}
