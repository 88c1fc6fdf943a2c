//! The hook that keeps the list.

use std::sync::Arc;

use hooks_core::HookResult;
use serde::Deserialize;

use crate::context::todo_list::list::{Limits, Todo, lines};
use crate::context::todo_list::tool::{NAME, PARALLEL, THREAD_VALUE, is_parallel, writer};
use hooks_agent_core::agent_hook;
use hooks_agent_core::call::CallContext;
use hooks_agent_core::event::{Flow, PreActing, PreReasoning, PreSummary};
use hooks_agent_core::memory::{Memory, ThreadValueError};

/// What the model reads about the list in each round.
const INSTRUCTIONS: &str = "The tool `write_todos` keeps a to-do list for you. Use it for work of three or \
    more steps, and when the user asks for a list; for less, do the work without it. Mark an entry \
    `in_progress` before you begin it and `completed` as soon as it is done, one by one. Change the list \
    when you learn something new: add what was found, remove what is no longer needed. Call the tool once \
    in an answer at most. Your last answer has what the user asked for, not the list.";

/// Gives the model a list of what is to be done: the tool `write_todos` writes it, and the
/// system prompt of each round has it, if it is not empty.
///
/// The list is kept with the thread: it outlives calls, and with a store the process. Each thread of each
/// agent has a list, so a sub-agent with the hook has lists for itself. An answer that calls the tool more
/// than once gets an error for each of these tool calls, and the list stays as it was. So does a list
/// beyond the limits; the model reads [why](crate::context::TodoListError).
///
/// | setting | default |
/// |---|---|
/// | [`instructions`](Self::instructions) | an English text |
/// | [`max_entries`](Self::max_entries) | 50 |
/// | [`max_characters`](Self::max_characters) | 500 of an entry |
///
/// A thread value of another kind under [`THREAD_VALUE`](Self::THREAD_VALUE) fails the call. The hook never
/// waits. Its priority is 84: it adds to the system prompt after
/// [`InjectPrompt`](crate::guard::InjectPrompt). It is not inherited.
///
/// ```
/// use hooks_agent::builtin::context::{TodoList, TodoStatus};
/// use hooks_agent::prelude::*;
/// # use serde_json::json;
///
/// # futures::executor::block_on(async {
/// // `model` writes a list of one entry and answers with the last line of its system prompt.
/// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
/// #     let prompt = request.messages[0].text();
/// #     let todos = json!([{ "content": "Count to ten", "status": "in_progress" }]);
/// #     match request.messages.iter().flat_map(Msg::tool_results).count() {
/// #         0 => ToolUse::new("1", "write_todos", json!({ "todos": todos })).into(),
/// #         _ => prompt.lines().last().unwrap_or_default().to_owned().into(),
/// #     }
/// # });
/// let agent = ReActAgent::builder("assistant").model(model).hook(TodoList::new()).build()?;
/// assert_eq!(agent.call("Count").await?.text(), "- [in_progress] Count to ten");
/// let todos = TodoList::of(agent.memory())?;
/// assert_eq!(todos[0].status, TodoStatus::InProgress);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[doc(alias = "TodoListMiddleware")]
#[derive(Clone, Debug)]
#[must_use = "an agent runs it if it is added to its builder"]
pub struct TodoList {
    instructions: Arc<str>,
    limits: Limits,
}

impl Default for TodoList {
    fn default() -> Self {
        Self::new()
    }
}

impl TodoList {
    /// The priority: after hooks that add rules to the prompt.
    pub const PRIORITY: i32 = 84;

    /// The name of the thread value with the list.
    pub const THREAD_VALUE: &str = THREAD_VALUE;

    /// Creates a hook with the default settings.
    pub fn new() -> Self {
        let limits = Limits { entries: 50, characters: 500 };
        Self { instructions: INSTRUCTIONS.into(), limits }
    }

    /// Sets what the system prompt of each round says about the list. An empty text says nothing.
    pub fn instructions(mut self, text: impl Into<Arc<str>>) -> Self {
        self.instructions = text.into();
        self
    }

    /// Sets how many entries a list has at most.
    pub fn max_entries(mut self, entries: usize) -> Self {
        self.limits.entries = entries;
        self
    }

    /// Sets how many characters the content of an entry has at most.
    pub fn max_characters(mut self, characters: usize) -> Self {
        self.limits.characters = characters;
        self
    }

    /// Returns the list of the thread of a call, for hooks and tools; an empty one if there is none.
    ///
    /// # Errors
    /// [`ThreadValueError::Read`] if the thread value is not a list, [`ThreadValueError::NoMemory`] if the
    /// agent keeps no threads.
    pub fn read(cx: &CallContext) -> Result<Vec<Todo>, ThreadValueError> {
        Ok(cx.thread_value(Self::THREAD_VALUE)?.unwrap_or_default())
    }

    /// Returns the list of a thread, for programs: of `agent.memory()`, or of
    /// [`agent.threads().memory(id)`](hooks_agent_core::thread::Threads::memory), which has a thread of a store once a
    /// call used it.
    ///
    /// # Errors
    /// [`ThreadValueError::Read`] if the thread value is not a list.
    pub fn of(memory: &Memory) -> Result<Vec<Todo>, ThreadValueError> {
        let Some(value) = memory.values().remove(Self::THREAD_VALUE) else { return Ok(Vec::new()) };
        let name = Self::THREAD_VALUE.to_owned();
        Vec::deserialize(value).map_err(|source| ThreadValueError::Read { name, source })
    }
}

#[agent_hook(priority = Self::PRIORITY, tools = |hook: &Self| vec![writer(hook.limits)])]
impl TodoList {
    async fn pre_reasoning(&self, event: &mut PreReasoning<'_>) -> HookResult {
        if !self.instructions.trim().is_empty() {
            event.append_system(&*self.instructions);
        }
        if let Some(list) = lines(event.context(), &Self::read(event.context())?).await? {
            event.append_system(list);
        }
        Ok(())
    }

    /// A summary has no tools, so it needs no instructions.
    async fn pre_summary(&self, event: &mut PreSummary<'_>) -> HookResult {
        if let Some(list) = lines(event.context(), &Self::read(event.context())?).await? {
            event.append_system(list);
        }
        Ok(())
    }

    fn pre_acting(&self, event: &mut PreActing<'_>) -> Flow {
        if event.tool_use().name == NAME && is_parallel(event.context()) {
            return event.refuse(PARALLEL);
        }
        Flow::Continue
    }
}
