//! Built-in hooks that keep the context small.

mod auto_context;
mod context_editing;
mod summarization;
mod todo_list;
mod tool_selector;
