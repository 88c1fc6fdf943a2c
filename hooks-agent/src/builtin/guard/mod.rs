//! Hooks that guard: what an agent may say, read and do.

#[cfg(feature = "pii")]
pub mod pii;
#[cfg(feature = "words")]
mod words;

#[cfg(feature = "words")]
pub use words::{WordList, WordListError, WordMatch};
