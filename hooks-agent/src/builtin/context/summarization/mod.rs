//! Replaces old messages of a thread by a summary.

mod builder;
mod error;
mod hook;
mod size;

pub use builder::{OnSummaryFailure, SummarizationBuilder};
pub use error::SummarizationError;
pub use hook::Summarization;
