//! Clears old results of tools in requests.

mod builder;
mod clear;
mod hook;

pub use builder::{ContextEditingBuilder, ContextEditingError};
pub use hook::ContextEditing;
