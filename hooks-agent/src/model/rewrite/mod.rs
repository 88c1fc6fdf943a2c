//! Rewriting of what a model says, while it streams.

mod block;
mod find;
mod rewriter;
mod stream;

pub use find::{Find, Finding};
pub use rewriter::Rewriter;
pub(super) use stream::rewritten;
