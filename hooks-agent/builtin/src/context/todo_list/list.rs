//! The list and its limits.

use std::fmt::{self, Write};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use hooks_agent_core::call::{CallContext, Door};
use hooks_agent_core::error::TextBlocked;

/// An entry of a [`TodoList`](crate::context::TodoList).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Todo {
    /// What is to be done.
    pub content: String,
    /// How far it is.
    pub status: TodoStatus,
}

/// How far an entry of a list is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Begun.
    InProgress,
    /// Done.
    Completed,
}

/// Why a list is not kept. The model reads it as the result of its tool call, and the list before stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TodoListError {
    /// The list has too many entries.
    #[error("the list has {entries} entries, at most {most} are kept: join or remove some")]
    TooMany {
        /// The entries of the list.
        entries: usize,
        /// The limit.
        most: usize,
    },
    /// An entry is too long.
    #[error("entry {entry} has {characters} characters, at most {most} are kept: write it shorter")]
    TooLong {
        /// The number of the entry, from 1.
        entry: usize,
        /// The characters of its content.
        characters: usize,
        /// The limit.
        most: usize,
    },
    /// An entry has no content.
    #[error("entry {entry} has no content: say what is to be done")]
    Empty {
        /// The number of the entry, from 1.
        entry: usize,
    },
}

/// How long a list may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) entries: usize,
    pub(super) characters: usize,
}

impl Limits {
    pub(super) fn check(self, todos: &[Todo]) -> Result<(), TodoListError> {
        if todos.len() > self.entries {
            return Err(TodoListError::TooMany { entries: todos.len(), most: self.entries });
        }
        for (place, todo) in todos.iter().enumerate() {
            let (entry, characters) = (place + 1, todo.content.chars().count());
            if todo.content.trim().is_empty() {
                return Err(TodoListError::Empty { entry });
            }
            if characters > self.characters {
                return Err(TodoListError::TooLong { entry, characters, most: self.characters });
            }
        }
        Ok(())
    }
}

impl fmt::Display for TodoStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
        })
    }
}

/// Returns the list as the model reads it, or nothing for an empty one. Each entry is one line, whatever
/// its content.
pub(super) async fn lines(cx: &CallContext, todos: &[Todo]) -> Result<Option<String>, TextBlocked> {
    if todos.is_empty() {
        return Ok(None);
    }
    let mut lines = "The to-do list that you wrote, your notes:".to_owned();
    for Todo { content, status } in todos {
        let content = cx.screen(Door::Todo, content).await?;
        let words: Vec<_> = content.split_whitespace().collect();
        // A string takes everything.
        let _ = write!(lines, "\n- [{status}] {}", words.join(" "));
    }
    Ok(Some(lines))
}
