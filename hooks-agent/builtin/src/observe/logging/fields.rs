//! The fields of an event in a log.

use std::borrow::Cow;

use serde::Serialize;

use hooks_agent_core::agent::CallOutcome;
use hooks_agent_core::call::RunId;
use hooks_agent_core::event::{ErrorEvent, HookEvent};
use hooks_agent_core::message::{ContentBlock, Messages, Msg, ToolUse, Usage};

/// The fields of an event. A field without a value does not appear.
pub(super) struct Fields<'a> {
    pub(super) event: &'static str,
    pub(super) agent: &'a str,
    pub(super) run: RunId,
    pub(super) parent: Option<String>,
    pub(super) thread: &'a str,
    pub(super) more: More<'a>,
}

/// The fields that only some events have.
#[derive(Default)]
pub(super) struct More<'a> {
    pub(super) model: Option<&'a str>,
    pub(super) messages: Option<usize>,
    pub(super) tools: Option<usize>,
    pub(super) tool: Option<&'a str>,
    pub(super) tool_call: Option<&'a str>,
    pub(super) is_error: Option<bool>,
    pub(super) answered_by: Option<&'a str>,
    pub(super) bytes: Option<usize>,
    pub(super) input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) reason: Option<String>,
    pub(super) pending: Option<usize>,
    pub(super) phase: Option<&'static str>,
    pub(super) error: Option<&'static str>,
    pub(super) hook: Option<&'a str>,
    pub(super) outcome: Option<&'static str>,
    pub(super) content: Option<Cow<'a, str>>,
}

impl<'a> Fields<'a> {
    pub(super) fn of(event: &'a HookEvent<'_>, has_content: bool) -> Self {
        let cx = event.context();
        let mut more = More::default();
        let content = more.put(event);
        more.bytes = more.bytes.or(content.as_ref().map(|content| content.len()));
        more.content = content.filter(|_| has_content);
        Self {
            event: event.kind().name(),
            agent: cx.agent_name(),
            run: cx.run_id(),
            parent: cx.parent().map(|parent| parent.run_id().to_string()),
            thread: cx.thread_id(),
            more,
        }
    }
}

impl<'a> More<'a> {
    /// Sets the fields of this kind of event and returns its content.
    fn put(&mut self, event: &'a HookEvent<'_>) -> Option<Cow<'a, str>> {
        let content = match event {
            HookEvent::PreCall(event) => self.put_messages(event.messages()),
            HookEvent::PreReasoning(event) => {
                self.model = Some(event.model_name());
                self.tools = Some(event.tools().len());
                self.put_request(event.messages())
            }
            HookEvent::ReasoningChunk(event) => chunk_text(event.incremental()),
            HookEvent::PostReasoning(event) => {
                self.model = Some(event.model_name());
                self.tools = Some(event.message().tool_uses().count());
                self.reason = name_of(&event.finish_reason());
                let text = self.put_answer(event.message());
                let calls = event.message().tool_uses();
                let calls = calls.map(|call| format!("{} {}", call.name, call.input));
                let texts = (!text.is_empty()).then(|| text.into_owned()).into_iter().chain(calls);
                texts.collect::<Vec<_>>().join("\n").into()
            }
            HookEvent::PreActing(event) => {
                let call = event.tool_use();
                self.put_call(call);
                // Hooks may have added secrets to its input.
                return None;
            }
            HookEvent::ActingChunk(event) => {
                let call = event.tool_use();
                self.put_call(call);
                event.chunk().into()
            }
            HookEvent::PostActing(event) => {
                let (call, result) = (event.tool_use(), event.tool_result());
                self.put_call(call);
                self.is_error = Some(result.is_error);
                self.answered_by = event.answered_by();
                result.output.as_str().into()
            }
            HookEvent::PreSummary(event) => {
                self.model = Some(event.model_name());
                self.put_request(event.messages())
            }
            HookEvent::SummaryChunk(event) => chunk_text(event.incremental()),
            HookEvent::PostSummary(event) => {
                self.model = Some(event.model_name());
                self.put_answer(event.message())
            }
            HookEvent::PostCall(event) => {
                let reply = event.final_message();
                self.reason = reply.reason.as_ref().and_then(name_of);
                self.pending = Some(reply.pending().len()).filter(|count| *count > 0);
                self.put_answer(reply)
            }
            HookEvent::Error(event) => return self.put_error(event),
            HookEvent::Settled(event) => {
                self.put_usage(event.context().usage());
                self.outcome = Some(event.outcome().name());
                if let CallOutcome::Finished(reason) = event.outcome() {
                    self.reason = reason.as_ref().and_then(name_of);
                }
                return None;
            }
            _ => return None,
        };
        Some(content)
    }

    fn put_call(&mut self, call: &'a ToolUse) {
        (self.tool, self.tool_call) = (Some(call.name.as_str()), Some(call.id.as_str()));
    }

    fn put_messages(&mut self, messages: &Messages) -> Cow<'a, str> {
        self.messages = Some(messages.len());
        let texts: Vec<_> = messages.iter().map(text_of).collect();
        texts.join("\n").into()
    }

    /// Sets the fields of messages that are sent to the model; the content is the last one's.
    fn put_request(&mut self, messages: &'a Messages) -> Cow<'a, str> {
        self.messages = Some(messages.len());
        self.bytes = Some(messages.iter().map(|msg| text_of(msg).len()).sum());
        messages.last().map(text_of).unwrap_or_default().into()
    }

    fn put_answer(&mut self, msg: &Msg) -> Cow<'a, str> {
        self.put_usage(msg.usage.unwrap_or_default());
        msg.text().into()
    }

    fn put_usage(&mut self, usage: Usage) {
        if usage != Usage::default() {
            self.input_tokens = Some(usage.input_tokens);
            self.output_tokens = Some(usage.output_tokens);
        }
    }

    /// The text of a tool's error is left out: hooks may still redact it, in the result.
    fn put_error(&mut self, event: &'a ErrorEvent<'_>) -> Option<Cow<'a, str>> {
        self.error = Some(event.error_kind());
        self.hook = event.failed_hook();
        self.phase = Some(event.phase().name());
        let Some(call) = event.phase().tool_call() else {
            return Some(event.error().to_string().into());
        };
        self.put_call(call);
        None
    }
}

/// Returns the text of a message and of the tool results in it.
fn text_of(msg: &Msg) -> String {
    let mut text = msg.text();
    for result in msg.tool_results() {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(result.output.as_str());
    }
    text
}

fn chunk_text(block: &ContentBlock) -> Cow<'_, str> {
    match block {
        ContentBlock::Text { text } => text.into(),
        ContentBlock::Thinking { thinking, .. } => thinking.into(),
        ContentBlock::ToolUse(call) => call.input.to_string().into(),
        _ => Cow::default(),
    }
}

/// Returns the name of a variant, as in JSON.
fn name_of(value: &impl Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}
