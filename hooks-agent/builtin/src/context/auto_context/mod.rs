//! Fits each request into a budget of tokens.

mod builder;
mod covered;
mod error;
mod hook;
mod offload;
mod reader;
mod thread;
mod view;

pub use builder::AutoContextBuilder;
pub use error::AutoContextError;
pub use hook::AutoContext;
