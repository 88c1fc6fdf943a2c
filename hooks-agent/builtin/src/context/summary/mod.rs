//! Summaries of conversations: where these may be cut, how a model reads them, and how it is asked.

mod cut;
mod error;
mod summarizer;
mod transcript;

pub(super) use cut::place;
pub use error::SummaryError;
pub(super) use summarizer::{PREFIX, Summarizer};
