//! A list of what is to be done, which the model keeps.

mod hook;
mod list;
mod tool;

pub use hook::TodoList;
pub use list::{Todo, TodoListError, TodoStatus};
