//! Rewriting of what a model says, while it streams.

mod answers;
mod async_find;
mod block;
mod fields;
mod find;
mod rewriter;
mod searched;
mod sentence;
mod stream;
mod used;

pub use async_find::{AsyncFind, FindFuture};
pub use find::{Find, Finding};
pub use rewriter::Rewriter;
pub(crate) use searched::{CallTexts, KeepDigests};
pub(super) use stream::rewritten;
pub use used::{TextPlace, Used};
