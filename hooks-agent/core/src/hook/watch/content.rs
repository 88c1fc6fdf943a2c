//! Copies of the content of events, compared to find the changes of hooks.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::event::HookEvent;
use crate::hook::watch::changes::{HookChange, Same, compare, compare_lists};
use crate::message::{Messages, Msg, ToolResult, ToolUse};
use crate::model::{ChatRequest, ModelOptions, ToolSpec};

/// A copy of what an event holds. Lists of messages and tools are shared with it.
pub(crate) enum Content {
    /// Nothing that a hook could change.
    Nothing,
    Request(Box<Request>),
    Message(Box<Msg>),
    ToolUse(Box<ToolUse>),
    ToolResult(Box<ToolResult>),
}

/// What is sent to the model, or to the agent.
pub(crate) struct Request {
    messages: Messages,
    system: Option<Arc<Msg>>,
    tools: Option<Arc<[ToolSpec]>>,
    options: Option<Arc<ModelOptions>>,
}

impl Content {
    pub(crate) fn of(event: &HookEvent<'_>) -> Self {
        let request = |messages: &Messages, system, tools, options| {
            Self::Request(Box::new(Request { messages: messages.clone(), system, tools, options }))
        };
        match event {
            HookEvent::PreCall(event) => {
                request(event.messages(), event.system_message(), None, None)
            }
            HookEvent::PreReasoning(event) => {
                let input = event.input();
                let (system, tools) = (input.system.clone(), input.tools.clone());
                request(&input.messages, system, Some(tools), Some(input.options.clone()))
            }
            HookEvent::PreSummary(event) => {
                let input = event.input();
                request(&input.messages, input.system.clone(), None, Some(input.options.clone()))
            }
            HookEvent::PostReasoning(event) => Self::Message(Box::new(event.message().clone())),
            HookEvent::PostSummary(event) => Self::Message(Box::new(event.message().clone())),
            HookEvent::PostCall(event) => Self::Message(Box::new(event.final_message().clone())),
            HookEvent::PreActing(event) => Self::of_tool_use(event.tool_use()),
            HookEvent::PostActing(event) => Self::of_tool_result(event.tool_result()),
            HookEvent::ReasoningChunk(_)
            | HookEvent::ActingChunk(_)
            | HookEvent::SummaryChunk(_)
            | HookEvent::Error(_)
            | HookEvent::Settled(_) => Self::Nothing,
        }
    }

    pub(crate) fn of_tool_use(call: &ToolUse) -> Self {
        Self::ToolUse(Box::new(call.clone().without_hidden()))
    }

    pub(crate) fn of_tool_result(result: &ToolResult) -> Self {
        Self::ToolResult(Box::new(result.clone()))
    }

    pub(crate) fn of_request(request: &ChatRequest) -> Self {
        let ChatRequest { messages, tools, options } = request.clone();
        let (tools, options) = (Some(tools), Some(options));
        Self::Request(Box::new(Request { messages, system: None, tools, options }))
    }

    pub(crate) fn is_same(&self, after: &Self) -> bool {
        match (self, after) {
            (Self::Request(before), Self::Request(after)) => {
                before.messages.len() == after.messages.len()
                    && same_messages(&before.messages, &after.messages).is_all(after.messages.len())
                    && same_shared(before.system.as_ref(), after.system.as_ref())
                    && same_shared(before.tools.as_ref(), after.tools.as_ref())
                    && same_shared(before.options.as_ref(), after.options.as_ref())
            }
            (Self::Message(before), Self::Message(after)) => before == after,
            (Self::ToolUse(before), Self::ToolUse(after)) => before == after,
            (Self::ToolResult(before), Self::ToolResult(after)) => before == after,
            _ => true,
        }
    }

    pub(super) fn compare(&self, after: &Self, changes: &mut Vec<HookChange>) {
        if self.is_same(after) {
            return;
        }
        match (self, after) {
            (Self::Request(before), Self::Request(after)) => before.compare(after, changes),
            (Self::Message(before), Self::Message(after)) => {
                compare("message", json(before), json(after), changes);
            }
            (Self::ToolUse(before), Self::ToolUse(after)) => {
                compare("tool_use", json(before), json(after), changes);
            }
            (Self::ToolResult(before), Self::ToolResult(after)) => {
                compare("tool_result", json(before), json(after), changes);
            }
            _ => {}
        }
    }
}

impl Request {
    fn compare(&self, after: &Self, changes: &mut Vec<HookChange>) {
        let same = same_messages(&self.messages, &after.messages);
        let messages = |messages: &Messages| {
            let shared: Vec<_> = messages.shared().cloned().collect();
            shared.into_iter().map(|msg| json(&msg))
        };
        let (before, now) = (messages(&self.messages), messages(&after.messages));
        compare_lists("messages", &same, before, now, changes);
        compare_shared("system", self.system.as_ref(), after.system.as_ref(), changes);
        compare_shared("tools", self.tools.as_ref(), after.tools.as_ref(), changes);
        compare_shared("options", self.options.as_ref(), after.options.as_ref(), changes);
    }
}

fn same_messages(before: &Messages, after: &Messages) -> Same {
    let is_same = |before: &Arc<Msg>, after: &Arc<Msg>| same_shared(Some(before), Some(after));
    Same::of(before.shared(), after.shared(), is_same)
}

/// Returns whether two shared values are one, or equal.
fn same_shared<T: PartialEq + ?Sized>(before: Option<&Arc<T>>, after: Option<&Arc<T>>) -> bool {
    match (before, after) {
        (Some(before), Some(after)) => Arc::ptr_eq(before, after) || before == after,
        (before, after) => before.is_none() && after.is_none(),
    }
}

fn compare_shared<T: PartialEq + Serialize + ?Sized>(
    path: &str,
    before: Option<&Arc<T>>,
    after: Option<&Arc<T>>,
    changes: &mut Vec<HookChange>,
) {
    if !same_shared(before, after) {
        let json = |value: Option<&Arc<T>>| value.and_then(json);
        compare(path, json(before), json(after), changes);
    }
}

/// Returns the value as JSON. What cannot be written as JSON has no changes to show.
fn json(value: &(impl Serialize + ?Sized)) -> Option<Value> {
    serde_json::to_value(value).ok()
}
