//! The judge: a model of one's own checks input, tool calls and answers against a rubric.
//!
//! The hook asks what the settings judge; a verdict is read strictly, and what is not read refuses.

mod ask;
mod held;
mod hook;
mod reason;
mod settings;
mod tools;
mod verdict;

pub use hook::Judge;
