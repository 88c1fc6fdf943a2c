//! Hooks that keep what the model reads within its context window: shorter conversations, fewer tools,
//! a list of what is to be done.
//!
//! See [the guide](https://docs.rs/hooks-agent/latest/hooks_agent/guide/builtin_context/index.html).

mod auto_context;
mod context_editing;
#[cfg(feature = "policy")]
mod policy;
mod summarization;
mod summary;
mod todo_list;
mod tool_selector;

pub use auto_context::{AutoContext, AutoContextBuilder, AutoContextError};
pub use context_editing::{ContextEditing, ContextEditingBuilder, ContextEditingError};
pub use summarization::{
    OnSummaryFailure, Summarization, SummarizationBuilder, SummarizationError,
};
pub use summary::SummaryError;
pub use todo_list::{Todo, TodoList, TodoListError, TodoStatus};
pub use tool_selector::{OnSelectionFailure, ToolSelector, ToolSelectorError};
