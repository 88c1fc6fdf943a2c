//! A text, a message or a tool call without its content: names and sizes.

use std::borrow::Cow;
use std::io;

use hooks_agent_core::message::{
    ContentBlock, GenerateReason, Messages, Msg, PendingCall, Role, ToolResult, ToolUse, Usage,
};
use hooks_agent_core::model::ToolSpec;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::entry::sizes;

/// Content that may be kept as a whole, or by its names and sizes.
pub(crate) trait Content: Serialize {
    type Sizes: Serialize;

    fn sizes(&self) -> Self::Sizes;

    /// About how many bytes it takes.
    fn bytes(&self) -> usize;
}

/// The messages of a caller.
#[derive(Serialize)]
pub(crate) struct Input<'a> {
    pub(crate) messages: &'a Messages,
}

/// What the model is asked.
#[derive(Serialize)]
pub(crate) struct Request<'a> {
    pub(crate) model: &'a str,
    pub(crate) messages: usize,
    #[serde(serialize_with = "names")]
    pub(crate) tools: &'a [ToolSpec],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) system: Option<Cow<'a, str>>,
}

fn names<S: Serializer>(tools: &[ToolSpec], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(tools.iter().map(|tool| &*tool.name))
}

impl<'a> Request<'a> {
    pub(crate) fn of(
        model: &'a str,
        messages: &Messages,
        tools: &'a [ToolSpec],
        system: Option<&'a Msg>,
    ) -> Self {
        Self { model, messages: messages.len(), tools, system: system.map(text_of) }
    }
}

fn text_of(msg: &Msg) -> Cow<'_, str> {
    match &*msg.content {
        [ContentBlock::Text { text }] => text.into(),
        _ => msg.text().into(),
    }
}

/// The progress of a tool.
#[derive(Serialize)]
pub(crate) struct Progress<'a> {
    pub(crate) call: &'a ToolUse,
    pub(crate) text: &'a str,
}

/// A message without its content.
#[derive(Serialize)]
pub(crate) struct MessageSizes {
    hidden: bool,
    role: Role,
    chars: usize,
    tools: Vec<Name>,
    reason: Option<GenerateReason>,
    usage: Option<Usage>,
}

#[derive(Serialize)]
pub(crate) struct InputSizes {
    hidden: bool,
    messages: Vec<MessageSizes>,
}

#[derive(Serialize)]
pub(crate) struct RequestSizes {
    hidden: bool,
    model: String,
    messages: usize,
    tools: Vec<String>,
    system_chars: usize,
}

/// A block of an answer without its content.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum BlockSizes {
    Call {
        #[serde(rename = "type")]
        kind: &'static str,
        #[serde(flatten)]
        call: CallSizes,
    },
    Result {
        #[serde(rename = "type")]
        kind: &'static str,
        #[serde(flatten)]
        result: ResultSizes,
    },
    Text {
        #[serde(rename = "type")]
        kind: &'static str,
        hidden: bool,
        chars: usize,
    },
}

#[derive(Serialize)]
pub(crate) struct CallSizes {
    hidden: bool,
    id: String,
    name: String,
    chars: usize,
}

#[derive(Serialize)]
pub(crate) struct ResultSizes {
    hidden: bool,
    id: String,
    name: String,
    is_error: bool,
    chars: usize,
}

#[derive(Serialize)]
pub(crate) struct ProgressSizes {
    hidden: bool,
    call: Name,
    chars: usize,
}

#[derive(Serialize)]
pub(crate) struct PendingSizes {
    hidden: bool,
    id: String,
    call: Name,
    agents: Vec<String>,
    asked_by: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct Name {
    id: String,
    name: String,
}

impl Content for Msg {
    type Sizes = MessageSizes;

    fn sizes(&self) -> MessageSizes {
        MessageSizes {
            hidden: true,
            role: self.role,
            chars: self.content.iter().map(block_chars).sum(),
            tools: self.tool_uses().map(Name::of).collect(),
            reason: self.reason,
            usage: self.usage,
        }
    }

    fn bytes(&self) -> usize {
        sizes::message(self)
    }
}

impl Content for Input<'_> {
    type Sizes = InputSizes;

    fn sizes(&self) -> InputSizes {
        InputSizes { hidden: true, messages: self.messages.iter().map(Content::sizes).collect() }
    }

    fn bytes(&self) -> usize {
        self.messages.iter().map(sizes::message).sum()
    }
}

impl Content for Request<'_> {
    type Sizes = RequestSizes;

    fn sizes(&self) -> RequestSizes {
        let Self { model, messages, tools, system } = self;
        RequestSizes {
            hidden: true,
            model: (*model).to_owned(),
            messages: *messages,
            tools: tools.iter().map(|tool| tool.name.clone()).collect(),
            system_chars: system.as_ref().map_or(0, |system| chars(system)),
        }
    }

    fn bytes(&self) -> usize {
        let tools: usize = self.tools.iter().map(|tool| tool.name.len() + 4).sum();
        tools + self.system.as_deref().map_or(0, str::len)
    }
}

impl Content for ContentBlock {
    type Sizes = BlockSizes;

    fn sizes(&self) -> BlockSizes {
        block_sizes(self)
    }

    fn bytes(&self) -> usize {
        sizes::block(self)
    }
}

impl Content for ToolUse {
    type Sizes = CallSizes;

    fn sizes(&self) -> CallSizes {
        call_sizes(self)
    }

    fn bytes(&self) -> usize {
        sizes::tool_use(self)
    }
}

impl Content for Progress<'_> {
    type Sizes = ProgressSizes;

    fn sizes(&self) -> ProgressSizes {
        ProgressSizes { hidden: true, call: Name::of(self.call), chars: chars(self.text) }
    }

    fn bytes(&self) -> usize {
        sizes::tool_use(self.call) + self.text.len()
    }
}

impl Content for ToolResult {
    type Sizes = ResultSizes;

    fn sizes(&self) -> ResultSizes {
        result_sizes(self)
    }

    fn bytes(&self) -> usize {
        sizes::tool_result(self)
    }
}

impl Content for PendingCall {
    type Sizes = PendingSizes;

    fn sizes(&self) -> PendingSizes {
        PendingSizes {
            hidden: true,
            id: self.id.clone(),
            call: Name::of(&self.call),
            agents: self.agents.clone(),
            asked_by: self.asked_by.clone(),
        }
    }

    fn bytes(&self) -> usize {
        let schema = self.question.as_ref().map_or(0, |it| sizes::value(&it.schema) + 256);
        sizes::tool_use(&self.call) + schema
    }
}

impl Name {
    fn of(call: &ToolUse) -> Self {
        Self { id: call.id.clone(), name: call.name.clone() }
    }
}

/// A block without its content.
pub(crate) fn block_sizes(block: &ContentBlock) -> BlockSizes {
    let kind = block.kind_name();
    match block {
        ContentBlock::ToolUse(call) => BlockSizes::Call { kind, call: call_sizes(call) },
        ContentBlock::ToolResult(result) => {
            BlockSizes::Result { kind, result: result_sizes(result) }
        }
        _ => BlockSizes::Text { kind, hidden: true, chars: block_chars(block) },
    }
}

fn call_sizes(call: &ToolUse) -> CallSizes {
    let (id, name) = (call.id.clone(), call.name.clone());
    CallSizes { hidden: true, id, name, chars: json_chars(&call.input) }
}

fn result_sizes(result: &ToolResult) -> ResultSizes {
    ResultSizes {
        hidden: true,
        id: result.id.clone(),
        name: result.name.clone(),
        is_error: result.is_error,
        chars: chars(result.output.as_str()),
    }
}

fn block_chars(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Text { text } => chars(text),
        ContentBlock::Thinking { thinking, .. } => chars(thinking),
        ContentBlock::ToolUse(call) => json_chars(&call.input),
        ContentBlock::ToolResult(result) => chars(result.output.as_str()),
        _ => 0,
    }
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

/// Counts the characters of a text, or of the JSON of another value.
pub(crate) fn json_chars(value: &Value) -> usize {
    match value {
        Value::String(text) => chars(text),
        value => {
            let mut count = Chars(0);
            // Counting does not fail, and keys are texts.
            let _ = serde_json::to_writer(&mut count, value);
            count.0
        }
    }
}

/// Counts characters.
struct Chars(usize);

impl io::Write for Chars {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // What goes on with a character begins with the bits 10.
        self.0 += bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
