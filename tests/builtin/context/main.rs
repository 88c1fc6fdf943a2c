//! Built-in hooks that keep the context small.

mod auto_context;
mod context_editing;
mod side_by_side;
mod summarization;
mod todo_list;
mod tool_selector;
