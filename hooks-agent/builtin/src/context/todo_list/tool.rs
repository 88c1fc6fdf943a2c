//! The tool that writes the list.

use std::sync::Arc;

use hooks_core::BoxError;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::context::todo_list::list::{Limits, Todo, TodoStatus};
use hooks_agent_core::call::CallContext;
use hooks_agent_core::message::Msg;
use hooks_agent_core::tool::{FunctionTool, Tool, ToolContext};

/// The thread value that has the list.
pub(super) const THREAD_VALUE: &str = "TodoList";

/// The name of the tool.
pub(super) const NAME: &str = "write_todos";

/// What the model reads about the tool.
const DESCRIPTION: &str = "Writes the to-do list of this conversation. The list replaces the one before, \
    so write it whole, completed entries too; an empty list removes it.";

/// The result of each of several tool calls in one answer, whose order would decide what the list is.
pub(super) const PARALLEL: &str = "Error: The `write_todos` tool should never be called multiple times in \
    parallel. Please call it only once per model invocation to update the todo list.";

/// The whole list.
#[derive(Deserialize, JsonSchema)]
struct List {
    /// All entries, in the order in which they are to be done.
    todos: Vec<Todo>,
}

/// Returns the tool.
pub(super) fn writer(limits: Limits) -> Arc<dyn Tool> {
    let write =
        move |list: List, cx: ToolContext| async move { write(cx.call(), &list.todos, limits) };
    Arc::new(FunctionTool::with_context(NAME, DESCRIPTION, write).idempotent())
}

fn write(cx: &CallContext, todos: &[Todo], limits: Limits) -> Result<String, BoxError> {
    limits.check(todos)?;
    cx.set_thread_value(THREAD_VALUE, todos)?;
    let count = |status| todos.iter().filter(|todo| todo.status == status).count();
    let [pending, begun, done] =
        [TodoStatus::Pending, TodoStatus::InProgress, TodoStatus::Completed].map(count);
    Ok(format!("Updated todo list: {pending} pending, {begun} in progress, {done} completed."))
}

/// Returns whether the answer whose tool calls run now calls the tool more than once.
pub(super) fn is_parallel(cx: &CallContext) -> bool {
    let Some(memory) = cx.memory() else { return false };
    let messages = memory.messages();
    let calls = |msg: &Msg| msg.tool_uses().filter(|call| call.name == NAME).count();
    let answer = messages.iter().rev().find(|msg| msg.tool_uses().next().is_some());
    answer.map_or(0, calls) > 1
}
