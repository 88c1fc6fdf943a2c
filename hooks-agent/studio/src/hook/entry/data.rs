//! The data of entries, kept until an entry is read.

use hooks_agent_core::message::{ContentBlock, Messages, Msg, PendingCall, ToolResult, ToolUse};
use serde::Serialize;
use serde_json::Value;

use crate::hook::entry::{content, sizes};

/// What an entry says.
pub(crate) trait Data: Serialize + Send + 'static {
    /// What is shown without content: names and sizes.
    type Hidden<'a>: Serialize;

    fn hidden(&self) -> Self::Hidden<'_>;

    /// Returns about how long the JSON is.
    fn size(&self) -> usize;
}

/// Where the data of an entry are: they are copied only where they are kept.
pub(crate) trait Source {
    type Data: Data;

    fn see(&self) -> &Self::Data;

    fn keep(self) -> Self::Data;
}

/// Data that were made for an entry.
pub(crate) struct Made<D>(pub(crate) D);

impl<D: Data> Source for Made<D> {
    type Data = D;

    fn see(&self) -> &D {
        &self.0
    }

    fn keep(self) -> D {
        self.0
    }
}

impl<D: Data + Clone> Source for &D {
    type Data = D;

    fn see(&self) -> &D {
        self
    }

    fn keep(self) -> D {
        self.clone()
    }
}

/// What a call got.
#[derive(Serialize)]
pub(crate) struct Input {
    pub(crate) messages: Messages,
}

/// What is sent to the model.
#[derive(Serialize)]
pub(crate) struct Request {
    pub(crate) model: String,
    pub(crate) messages: usize,
    pub(crate) tools: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) system: Option<String>,
}

/// The progress of a tool.
#[derive(Serialize)]
pub(crate) struct Progress {
    pub(crate) call: ToolUse,
    pub(crate) text: String,
}

/// Names and numbers, which are always shown.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct Plain(pub(crate) Value);

impl Data for Input {
    type Hidden<'a> = content::Input<'a>;

    fn hidden(&self) -> content::Input<'_> {
        content::messages(&self.messages)
    }

    fn size(&self) -> usize {
        self.messages.iter().map(sizes::message).sum()
    }
}

/// What is sent to the model, without its content.
#[derive(Serialize)]
pub(crate) struct HiddenRequest<'a> {
    hidden: bool,
    model: &'a str,
    messages: usize,
    tools: &'a [String],
    system_chars: usize,
}

impl Data for Request {
    type Hidden<'a> = HiddenRequest<'a>;

    fn hidden(&self) -> HiddenRequest<'_> {
        let Self { model, messages, tools, system } = self;
        let system_chars = system.as_ref().map_or(0, |system| system.chars().count());
        HiddenRequest { hidden: true, model, messages: *messages, tools, system_chars }
    }

    fn size(&self) -> usize {
        let tools: usize = self.tools.iter().map(|tool| tool.len() + 4).sum();
        tools + self.system.as_deref().map_or(0, sizes::text)
    }
}

impl Data for Progress {
    type Hidden<'a> = content::Progress<'a>;

    fn hidden(&self) -> content::Progress<'_> {
        content::tool_chunk(&self.call, &self.text)
    }

    fn size(&self) -> usize {
        sizes::tool_use(&self.call) + sizes::text(&self.text)
    }
}

impl Data for Plain {
    type Hidden<'a> = &'a Value;

    fn hidden(&self) -> &Value {
        &self.0
    }

    fn size(&self) -> usize {
        sizes::value(&self.0)
    }
}

impl Data for Msg {
    type Hidden<'a> = content::Message<'a>;

    fn hidden(&self) -> content::Message<'_> {
        content::message(self)
    }

    fn size(&self) -> usize {
        sizes::message(self)
    }
}

impl Data for ContentBlock {
    type Hidden<'a> = content::Block<'a>;

    fn hidden(&self) -> content::Block<'_> {
        content::block(self)
    }

    fn size(&self) -> usize {
        sizes::block(self)
    }
}

impl Data for ToolUse {
    type Hidden<'a> = content::Call<'a>;

    fn hidden(&self) -> content::Call<'_> {
        content::tool_use(self)
    }

    fn size(&self) -> usize {
        sizes::tool_use(self)
    }
}

impl Data for ToolResult {
    type Hidden<'a> = content::CallResult<'a>;

    fn hidden(&self) -> content::CallResult<'_> {
        content::tool_result(self)
    }

    fn size(&self) -> usize {
        sizes::tool_result(self)
    }
}

impl Data for PendingCall {
    type Hidden<'a> = content::Pending<'a>;

    fn hidden(&self) -> content::Pending<'_> {
        content::pending(self)
    }

    fn size(&self) -> usize {
        let schema = self.question.as_ref().map_or(0, |it| sizes::value(&it.schema) + 256);
        sizes::tool_use(&self.call) + schema
    }
}
