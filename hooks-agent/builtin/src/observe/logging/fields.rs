//! The fields of an event in a log.

use std::fmt::{self, Write};

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
    pub(super) content: Option<String>,
}

impl<'a> Fields<'a> {
    pub(super) fn of(event: &'a HookEvent<'_>, has_content: bool) -> Self {
        let cx = event.context();
        let mut more = More::default();
        let content = more.put(event);
        // Without content, only its length is made.
        more.bytes = more.bytes.or(content.as_ref().map(length));
        let is_answer = matches!(
            event,
            HookEvent::PostReasoning(_) | HookEvent::PostSummary(_) | HookEvent::PostCall(_)
        );
        let has_content = has_content && !(is_answer && cx.holds_answers());
        more.content = content.filter(|_| has_content).map(|content| content.to_string());
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
    fn put(&mut self, event: &'a HookEvent<'_>) -> Option<Content<'a>> {
        let content = match event {
            HookEvent::PreCall(event) => self.put_messages(event.messages()),
            HookEvent::PreReasoning(event) => {
                self.model = Some(event.model_name());
                self.tools = Some(event.tools().len());
                self.put_request(event.messages())
            }
            HookEvent::ReasoningChunk(event) => Content::Chunk(event.incremental()),
            HookEvent::PostReasoning(event) => {
                self.model = Some(event.model_name());
                self.tools = Some(event.message().tool_uses().count());
                self.reason = name_of(&event.finish_reason());
                self.put_answer(event.message());
                Content::Answer(event.message())
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
                Content::Text(event.chunk())
            }
            HookEvent::PostActing(event) => {
                let (call, result) = (event.tool_use(), event.tool_result());
                self.put_call(call);
                self.is_error = Some(result.is_error);
                self.answered_by = event.answered_by();
                Content::Text(result.output.as_str())
            }
            HookEvent::PreSummary(event) => {
                self.model = Some(event.model_name());
                self.put_request(event.messages())
            }
            HookEvent::SummaryChunk(event) => Content::Chunk(event.incremental()),
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

    fn put_messages(&mut self, messages: &'a Messages) -> Content<'a> {
        self.messages = Some(messages.len());
        Content::Messages(messages)
    }

    /// Sets the fields of messages that are sent to the model; the content is the last one's.
    fn put_request(&mut self, messages: &'a Messages) -> Content<'a> {
        self.messages = Some(messages.len());
        self.bytes = Some(messages.iter().map(|msg| length(&Content::Message(msg))).sum());
        messages.last().map_or(Content::Text(""), Content::Message)
    }

    fn put_answer(&mut self, msg: &'a Msg) -> Content<'a> {
        self.put_usage(msg.usage.unwrap_or_default());
        Content::Said(msg)
    }

    fn put_usage(&mut self, usage: Usage) {
        if usage != Usage::default() {
            self.input_tokens = Some(usage.input_tokens);
            self.output_tokens = Some(usage.output_tokens);
        }
    }

    /// The text of a tool's error is left out: hooks may still redact it, in the result.
    fn put_error(&mut self, event: &'a ErrorEvent<'_>) -> Option<Content<'a>> {
        self.error = Some(event.error_kind());
        self.hook = event.failed_hook();
        self.phase = Some(event.phase().name());
        let Some(call) = event.phase().tool_call() else {
            return Some(Content::Error(event));
        };
        self.put_call(call);
        None
    }
}

/// What an event says. Most logs have its length alone, so it is text only where it is asked for.
enum Content<'a> {
    Text(&'a str),
    Chunk(&'a ContentBlock),
    /// The texts of a message.
    Said(&'a Msg),
    /// The texts of a message and of the tool results in it.
    Message(&'a Msg),
    /// The same of several.
    Messages(&'a Messages),
    /// The texts of a message and its tool calls.
    Answer(&'a Msg),
    Error(&'a ErrorEvent<'a>),
}

impl fmt::Display for Content<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Chunk(ContentBlock::Text { text }) => f.write_str(text),
            Self::Chunk(ContentBlock::Thinking { thinking, .. }) => f.write_str(thinking),
            Self::Chunk(ContentBlock::ToolUse(call)) => fmt::Display::fmt(&call.input, f),
            Self::Chunk(_) => Ok(()),
            Self::Said(msg) => put_lines(f, texts(msg)).map(drop),
            Self::Message(msg) => {
                let results = msg.tool_results().map(|result| result.output.as_str());
                put_lines(f, texts(msg).chain(results)).map(drop)
            }
            Self::Messages(messages) => {
                for (index, msg) in messages.iter().enumerate() {
                    if index > 0 {
                        f.write_char('\n')?;
                    }
                    fmt::Display::fmt(&Self::Message(msg), f)?;
                }
                Ok(())
            }
            Self::Answer(msg) => {
                let mut is_first = !put_lines(f, texts(msg))?;
                for call in msg.tool_uses() {
                    if !std::mem::take(&mut is_first) {
                        f.write_char('\n')?;
                    }
                    write!(f, "{} {}", call.name, call.input)?;
                }
                Ok(())
            }
            Self::Error(event) => fmt::Display::fmt(event.error(), f),
        }
    }
}

fn texts(msg: &Msg) -> impl Iterator<Item = &str> {
    msg.content.iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(&**text),
        _ => None,
    })
}

/// Writes texts, as lines from the first that is not empty on. Returns whether one was.
fn put_lines<'a>(
    f: &mut fmt::Formatter<'_>,
    texts: impl Iterator<Item = &'a str>,
) -> Result<bool, fmt::Error> {
    let mut has_text = false;
    for text in texts {
        if has_text {
            f.write_char('\n')?;
        }
        f.write_str(text)?;
        has_text |= !text.is_empty();
    }
    Ok(has_text)
}

/// Returns the length of a text without making it.
fn length(text: &impl fmt::Display) -> usize {
    struct Length(usize);

    impl Write for Length {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 += text.len();
            Ok(())
        }
    }

    let mut length = Length(0);
    // Counting does not fail.
    let _ = write!(length, "{text}");
    length.0
}

/// Returns the name of a variant, as in JSON.
fn name_of(value: &impl Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}
