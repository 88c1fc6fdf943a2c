//! One answer of a model as messages and events of the protocol.

use hooks_agent_core::message::{ContentBlock, ToolUse};

use crate::protocol::{EventKind, FunctionCall, Message, WireToolCall};

/// One answer of a model. Text and the tool calls after it are one message; text after a tool call is
/// another, and so are thoughts. A stream of chunks and the complete answer give the same messages.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    base: String,
    tag: Option<String>,
    pub(super) messages: Vec<Message>,
    /// The place of the message that tool calls belong to.
    current: Option<usize>,
    span: Span,
    texts: usize,
    thoughts: usize,
}

/// What is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Span {
    None,
    Text,
    /// Thoughts, and whether their signature has come.
    Thoughts {
        is_sealed: bool,
    },
}

impl Answer {
    /// Creates an empty answer whose first message has this id.
    pub(super) fn new(base: String, tag: Option<String>) -> Self {
        let (messages, current, span) = (Vec::new(), None, Span::None);
        Self { base, tag, messages, current, span, texts: 0, thoughts: 0 }
    }

    /// Adds a block or a chunk of one, and the events that show it.
    pub(super) fn push(
        &mut self,
        block: &ContentBlock,
        wire: impl Fn(&str) -> String,
        events: &mut Vec<EventKind>,
    ) {
        match block {
            ContentBlock::Text { text } if !text.is_empty() => self.push_text(text, events),
            ContentBlock::Thinking { thinking, signature } => {
                if !thinking.is_empty() {
                    self.push_thought(thinking, events);
                }
                if let Some(signature) = signature {
                    self.seal(signature, events);
                }
            }
            ContentBlock::RedactedThinking { data } => {
                self.close(events);
                self.seal(data, events);
            }
            ContentBlock::ToolUse(call) => self.push_call(call, wire(&call.id), events),
            _ => {}
        }
    }

    /// Closes what is open.
    pub(super) fn close(&mut self, events: &mut Vec<EventKind>) {
        let span = std::mem::replace(&mut self.span, Span::None);
        match span {
            Span::None => {}
            Span::Text => {
                if let Some(message) = self.current.and_then(|index| self.messages.get(index)) {
                    events.push(EventKind::TextMessageEnd { message_id: message.id().to_owned() });
                }
            }
            Span::Thoughts { .. } => {
                let message_id = self.thought_id();
                events.push(EventKind::ReasoningMessageEnd { message_id: message_id.clone() });
                events.push(EventKind::ReasoningEnd { message_id });
            }
        }
    }

    fn push_text(&mut self, text: &str, events: &mut Vec<EventKind>) {
        if self.span != Span::Text {
            self.close(events);
            let message_id = self.begin_message();
            events.push(EventKind::TextMessageStart { message_id, role: "assistant" });
            self.span = Span::Text;
        }
        let current = self.current.and_then(|index| self.messages.get_mut(index));
        if let Some(Message::Assistant { id, content, .. }) = current {
            content.get_or_insert_default().push_str(text);
            let (message_id, delta) = (id.clone(), text.to_owned());
            events.push(EventKind::TextMessageContent { message_id, delta });
        }
    }

    fn push_thought(&mut self, text: &str, events: &mut Vec<EventKind>) {
        self.begin_thoughts(events);
        let message_id = self.thought_id();
        if let Some(Message::Reasoning { content, .. }) = self.messages.last_mut() {
            content.push_str(text);
        }
        let delta = text.to_owned();
        events.push(EventKind::ReasoningMessageContent { message_id, delta });
    }

    /// Ends thoughts with what only the provider can read of them.
    fn seal(&mut self, value: &str, events: &mut Vec<EventKind>) {
        self.begin_thoughts(events);
        if let Some(Message::Reasoning { encrypted_value, .. }) = self.messages.last_mut() {
            *encrypted_value = Some(value.to_owned());
        }
        let (entity_id, encrypted_value) = (self.thought_id(), value.to_owned());
        let subtype = "message";
        events.push(EventKind::ReasoningEncryptedValue { subtype, entity_id, encrypted_value });
        self.span = Span::Thoughts { is_sealed: true };
    }

    fn begin_thoughts(&mut self, events: &mut Vec<EventKind>) {
        if self.span == (Span::Thoughts { is_sealed: false }) {
            return;
        }
        self.close(events);
        self.thoughts += 1;
        let message_id = self.thought_id();
        self.messages.push(Message::Reasoning {
            id: message_id.clone(),
            content: String::new(),
            encrypted_value: None,
            subagent_run_id: self.tag.clone(),
        });
        events.push(EventKind::ReasoningStart { message_id: message_id.clone() });
        events.push(EventKind::ReasoningMessageStart { message_id, role: "reasoning" });
        self.span = Span::Thoughts { is_sealed: false };
    }

    fn push_call(&mut self, call: &ToolUse, id: String, events: &mut Vec<EventKind>) {
        self.close(events);
        if self.current.is_none() {
            self.begin_message();
        }
        let arguments = call.invalid_input.clone().unwrap_or_else(|| call.input.to_string());
        let current = self.current.and_then(|index| self.messages.get_mut(index));
        let Some(Message::Assistant { id: message, tool_calls, .. }) = current else { return };
        events.push(EventKind::ToolCallStart {
            tool_call_id: id.clone(),
            tool_call_name: call.name.clone(),
            parent_message_id: message.clone(),
        });
        if !arguments.is_empty() {
            let (tool_call_id, delta) = (id.clone(), arguments.clone());
            events.push(EventKind::ToolCallArgs { tool_call_id, delta });
        }
        events.push(EventKind::ToolCallEnd { tool_call_id: id.clone() });
        if let Some(value) = call.signature.clone() {
            let (subtype, entity_id) = ("tool-call", id.clone());
            let encrypted_value = value;
            events.push(EventKind::ReasoningEncryptedValue { subtype, entity_id, encrypted_value });
        }
        let function = FunctionCall::new(call.name.clone(), arguments);
        let encrypted_value = call.signature.clone();
        tool_calls.push(WireToolCall { id, r#type: "function", function, encrypted_value });
    }

    /// Begins a message and returns its id.
    fn begin_message(&mut self) -> String {
        self.texts += 1;
        let id = match self.texts {
            1 => self.base.clone(),
            number => format!("{}-{number}", self.base),
        };
        self.current = Some(self.messages.len());
        self.messages.push(Message::Assistant {
            id: id.clone(),
            content: None,
            tool_calls: Vec::new(),
            subagent_run_id: self.tag.clone(),
        });
        id
    }

    fn thought_id(&self) -> String {
        format!("{}-r{}", self.base, self.thoughts)
    }
}

/// Returns the tool calls of messages.
pub(super) fn tool_calls(messages: &[Message]) -> impl Iterator<Item = &WireToolCall> {
    messages.iter().flat_map(Message::tool_calls)
}

/// Returns whether two answers look the same, whatever the order of the tool calls of a message.
pub(super) fn looks_same(one: &[Message], other: &[Message]) -> bool {
    let sorted = |messages: &[Message]| {
        let mut messages = messages.to_vec();
        for message in &mut messages {
            if let Message::Assistant { tool_calls, .. } = message {
                tool_calls.sort_by(|one, other| one.id.cmp(&other.id));
            }
        }
        messages
    };
    sorted(one) == sorted(other)
}
