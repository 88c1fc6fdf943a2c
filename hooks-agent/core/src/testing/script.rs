//! A model that follows a script.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::message::{ContentBlock, ToolUse};
use crate::model::{
    ChatChunk, ChatModel, ChatRequest, ChatStream, ModelError, ScriptedAnswer, ScriptedModel,
};

/// The name of the model.
const NAME: &str = "script";

/// A model that answers each request with the next turn of a script.
///
/// Each method from [`says`](Script::says) to [`cut`](Script::cut) appends one turn, and each turn
/// is used once. A request without a turn fails with an error that has the request's last message.
/// A clone shares the turns and the requests, so that a test keeps one and gives one to the agent.
/// For answers that depend on the request, use a [`ScriptedModel`].
///
/// ```
/// use hooks_agent::prelude::*;
/// use hooks_agent::testing::{Calls, Script};
/// use serde_json::json;
///
/// # futures::executor::block_on(async {
/// let search = Calls::new("search").answers("42");
/// let script = Script::new()
///     .calls([ToolUse::new("1", "search", json!({ "for": "the answer" }))])
///     .says("It is 42.");
/// let agent =
///     ReActAgent::builder("bot").model(script.clone()).tool(search.clone()).build()?;
/// assert_eq!(agent.call("What is the answer?").await?.text(), "It is 42.");
/// search.assert_called_with([json!({ "for": "the answer" })]);
/// assert_eq!(script.requests().len(), 2);
/// script.finish();
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, Default)]
pub struct Script {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// The turns that are left.
    turns: VecDeque<ScriptedAnswer>,
    requests: Vec<ChatRequest>,
}

impl Script {
    /// Creates a script without turns.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a turn that answers with text, which streams word by word.
    #[must_use]
    pub fn says(self, text: impl Into<String>) -> Self {
        self.turn(text.into())
    }

    /// Appends a turn that calls these tools.
    #[must_use]
    pub fn calls(self, calls: impl IntoIterator<Item = ToolUse>) -> Self {
        self.turn(calls.into_iter().map(ContentBlock::ToolUse).collect::<Vec<_>>())
    }

    /// Appends a turn that fails.
    #[must_use]
    pub fn fails(self, error: ModelError) -> Self {
        self.turn(error)
    }

    /// Appends a turn of thoughts and then text.
    #[must_use]
    pub fn thinks(self, thoughts: impl Into<String>, text: impl Into<String>) -> Self {
        self.turn(vec![ContentBlock::thinking(thoughts), ContentBlock::text(text)])
    }

    /// Appends a turn whose stream ends before the first chunk, which fails with
    /// [`ModelError::Cut`] inside of hooks around the model call.
    #[must_use]
    pub fn cut(self) -> Self {
        self.turn(ScriptedAnswer::Stream(Vec::new()))
    }

    /// Appends a turn whose stream ends after this text, which fails the round with
    /// [`ModelError::Cut`], outside of hooks around the model call.
    #[must_use]
    pub fn cut_after(self, text: impl Into<String>) -> Self {
        self.turn(ScriptedAnswer::Stream(vec![Ok(ChatChunk::Text(text.into()))]))
    }

    /// Appends a turn of any kind.
    #[must_use]
    pub fn turn(self, answer: impl Into<ScriptedAnswer>) -> Self {
        self.lock().turns.push_back(answer.into());
        self
    }

    /// Returns the requests until now, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.lock().requests.clone()
    }

    /// Asserts that all turns were used.
    ///
    /// # Panics
    /// Panics if turns are left.
    #[track_caller]
    pub fn finish(&self) {
        let State { turns, requests } = &*self.lock();
        let (left, asked) = (turns.len(), requests.len());
        if let Some(next) = turns.front() {
            panic!("{left} of the turns are left after {asked} requests, the next is {next:?}");
        }
    }

    fn answer(&self, request: ChatRequest) -> ScriptedAnswer {
        let mut state = self.lock();
        let last = request.messages.last().cloned();
        state.requests.push(request);
        let number = state.requests.len();
        state.turns.pop_front().unwrap_or_else(|| {
            let reason =
                format!("the script has no turn {number}, add one; the request ends with {last:?}");
            ModelError::Failed { model: NAME.to_owned(), reason }.into()
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatModel for Script {
    fn name(&self) -> &str {
        NAME
    }

    fn stream(&self, request: ChatRequest) -> ChatStream {
        let answer = self.answer(request.clone());
        ScriptedModel::new(NAME, move |_| answer.clone()).stream(request)
    }
}
