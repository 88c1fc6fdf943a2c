//! Rewriting of what a model says, while it streams.

mod block;
mod find;
mod rewriter;
mod searched;
mod stream;

pub use find::{Find, Finding};
pub use rewriter::Rewriter;
pub(crate) use searched::{CallTexts, KeepDigests};
pub(super) use stream::rewritten;
