//! Words that must not be in a text, in any of the forms in which they may be written.

mod entry;
mod error;
mod fold;
mod list;
mod search;
mod trail;

pub use error::WordListError;
pub use list::{WordList, WordMatch};
