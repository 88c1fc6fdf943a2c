//! Parts that the tests of agents share: scripted models, tools, and a hook that takes notes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use futures::stream;
use hooks_agent::event::{EventKind, EventMask, Flow, HookEvent};
use hooks_agent::hook::AgentHook;
use hooks_agent::message::{
    ContentBlock, Msg, Role, ToolResult, ToolUse, Usage, unanswered_tool_uses,
};
use hooks_agent::model::{
    ChatChunk, ChatModel, ChatRequest, ChatStream, ModelError, ScriptedAnswer, ScriptedModel,
};
use hooks_agent::react::ReActAgent;
use hooks_agent::tool::{FunctionTool, ToolContext};
use hooks_core::HookResult;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use hooks_fixtures::Records;

/// A model that gives these answers, one per request; and the requests that it got.
pub fn script<A: Into<ScriptedAnswer>>(
    answers: impl IntoIterator<Item = A>,
) -> (ScriptedModel, Arc<Records<ChatRequest>>) {
    let answers: VecDeque<ScriptedAnswer> = answers.into_iter().map(Into::into).collect();
    let (answers, requests) = (Mutex::new(answers), Arc::new(Records::new()));
    let seen = requests.clone();
    let model = ScriptedModel::new("scripted", move |request: &ChatRequest| {
        seen.push(request.clone());
        let next = answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        next.unwrap_or_else(|| {
            let (model, reason) = ("scripted".to_owned(), "the script is over".to_owned());
            ModelError::Failed { model, reason }.into()
        })
    });
    (model, requests)
}

/// A model that asks for the tool `look`, then says that it is done, without waiting.
#[derive(Clone, Copy, Debug)]
pub struct Immediate;

impl ChatModel for Immediate {
    fn name(&self) -> &'static str {
        "immediate"
    }

    fn stream(&self, request: ChatRequest) -> ChatStream {
        let has_result = request.messages.last().is_some_and(|msg| msg.role == Role::Tool);
        let chunk = if has_result {
            ChatChunk::Text("done".to_owned())
        } else {
            ChatChunk::ToolUse(ToolUse::new("1", "look", json!({})))
        };
        Box::pin(stream::iter([Ok(chunk), Ok(ChatChunk::end(Usage::new(10, 2)))]))
    }
}

/// A call of the tool `echo`, which gives its text back.
#[must_use]
pub fn echo(id: &str, text: &str) -> ToolUse {
    ToolUse::new(id, "echo", json!({ "text": text }))
}

/// An answer that asks for these tool calls.
#[must_use]
pub fn uses(calls: impl IntoIterator<Item = ToolUse>) -> ScriptedAnswer {
    calls.into_iter().map(ContentBlock::ToolUse).collect::<Vec<_>>().into()
}

#[derive(Deserialize, JsonSchema)]
struct Text {
    text: String,
}

/// The tool `echo`; it notes what it was given.
#[must_use]
pub fn echo_tool(ran: &Arc<Records<String>>) -> FunctionTool {
    let ran = ran.clone();
    FunctionTool::new("echo", "Gives the text back.", move |Text { text }: Text| {
        ran.push(text.clone());
        async move { text }
    })
}

/// The tool `parts`, which tells each word of its text before it gives it back.
#[must_use]
pub fn parts_tool() -> FunctionTool {
    let tell = async |Text { text }: Text, cx: ToolContext| {
        for word in text.split(' ') {
            cx.progress(word);
        }
        text
    };
    FunctionTool::with_context("parts", "Tells its text word by word.", tell)
}

/// A tool of that name that fails.
#[must_use]
pub fn failing_tool(name: &str) -> FunctionTool {
    FunctionTool::new(name, "Fails.", async |_: Value| -> Result<String, std::io::Error> {
        Err(std::io::Error::other("the disk is full"))
    })
}

/// Notes the kinds of the events it sees.
#[derive(Clone, Debug, Default)]
pub struct Notes(pub Arc<Records<EventKind>>);

impl AgentHook for Notes {
    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        self.0.push(event.kind());
        Ok(Flow::Continue)
    }
}

/// A hook of a closure, for one kind of event.
#[derive(Debug)]
pub struct On<F> {
    kind: EventKind,
    react: F,
}

/// A hook that reacts to one kind of event.
pub fn on<F>(kind: EventKind, react: F) -> On<F>
where
    F: Fn(&mut HookEvent<'_>) -> HookResult<Flow> + Send + Sync + 'static,
{
    On { kind, react }
}

impl<F> AgentHook for On<F>
where
    F: Fn(&mut HookEvent<'_>) -> HookResult<Flow> + Send + Sync + 'static,
{
    fn name(&self) -> String {
        format!("on {}", self.kind)
    }

    fn events(&self) -> EventMask {
        self.kind.into()
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        (self.react)(event)
    }
}

/// Every tool call in memory has exactly one result.
///
/// # Panics
/// If one has not.
pub fn assert_valid(agent: &ReActAgent) {
    assert_eq!(unanswered_tool_uses(&agent.memory().messages()), []);
}

/// The results in memory, as id and output; those that are errors with a mark.
#[must_use]
pub fn results(agent: &ReActAgent) -> Vec<(String, String)> {
    let show = |result: &ToolResult| {
        let mark = if result.is_error { "! " } else { "" };
        (result.id.clone(), format!("{mark}{}", result.output))
    };
    agent.memory().messages().iter().flat_map(|msg| msg.tool_results().map(show)).collect()
}

/// A message of the user.
#[must_use]
pub fn go() -> Msg {
    Msg::user("go")
}
