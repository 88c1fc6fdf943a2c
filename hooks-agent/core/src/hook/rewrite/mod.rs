//! A rewriter as a hook: of what the model says, and of what it is given.

mod events;
mod hook;
mod kept;
mod places;

pub use hook::Rewrite;
