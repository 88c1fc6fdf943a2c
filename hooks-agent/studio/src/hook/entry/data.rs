//! The data of entries, kept until an entry is read.

use hooks_agent_core::message::{ContentBlock, Messages, Msg, PendingCall, ToolResult, ToolUse};
use serde::Serialize;
use serde_json::{Value, json};

use crate::hook::entry::{content, sizes};

/// What an entry says.
pub(crate) trait Data: Serialize + Send + 'static {
    /// Returns the JSON without content: names and sizes.
    fn hidden(&self) -> Value;

    /// Returns about how long the JSON is.
    fn size(&self) -> usize;
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
    fn hidden(&self) -> Value {
        content::messages(&self.messages)
    }

    fn size(&self) -> usize {
        self.messages.iter().map(sizes::message).sum()
    }
}

impl Data for Request {
    fn hidden(&self) -> Value {
        let Self { model, messages, tools, system } = self;
        let system_chars = system.as_ref().map_or(0, |system| system.chars().count());
        json!({
            "hidden": true, "model": model, "messages": messages, "tools": tools,
            "system_chars": system_chars,
        })
    }

    fn size(&self) -> usize {
        let tools: usize = self.tools.iter().map(|tool| tool.len() + 4).sum();
        tools + self.system.as_deref().map_or(0, sizes::text)
    }
}

impl Data for Progress {
    fn hidden(&self) -> Value {
        content::tool_chunk(&self.call, &self.text)
    }

    fn size(&self) -> usize {
        sizes::tool_use(&self.call) + sizes::text(&self.text)
    }
}

impl Data for Plain {
    fn hidden(&self) -> Value {
        self.0.clone()
    }

    fn size(&self) -> usize {
        sizes::value(&self.0)
    }
}

impl Data for Msg {
    fn hidden(&self) -> Value {
        content::message(self)
    }

    fn size(&self) -> usize {
        sizes::message(self)
    }
}

impl Data for ContentBlock {
    fn hidden(&self) -> Value {
        content::block(self)
    }

    fn size(&self) -> usize {
        sizes::block(self)
    }
}

impl Data for ToolUse {
    fn hidden(&self) -> Value {
        content::tool_use(self)
    }

    fn size(&self) -> usize {
        sizes::tool_use(self)
    }
}

impl Data for ToolResult {
    fn hidden(&self) -> Value {
        content::tool_result(self)
    }

    fn size(&self) -> usize {
        sizes::tool_result(self)
    }
}

impl Data for PendingCall {
    fn hidden(&self) -> Value {
        content::pending(self)
    }

    fn size(&self) -> usize {
        let schema = self.question.as_ref().map_or(0, |it| sizes::value(&it.schema) + 256);
        sizes::tool_use(&self.call) + schema
    }
}
