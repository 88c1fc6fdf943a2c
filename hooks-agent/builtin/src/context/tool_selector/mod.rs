//! Picks the tools of a round, by a model or by a search in names and descriptions.

mod ask;
mod choice;
mod error;
mod hook;
mod search;
mod select;
mod words;

pub use error::{OnSelectionFailure, ToolSelectorError};
pub use hook::ToolSelector;
