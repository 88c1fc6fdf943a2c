//! Clears old results of tools in requests.

mod builder;
mod clear;
mod error;
mod hook;

pub use builder::ContextEditingBuilder;
pub use error::ContextEditingError;
pub use hook::ContextEditing;
