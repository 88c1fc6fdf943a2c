//! Replaces old messages of a thread by a summary.

mod builder;
mod error;
mod hook;
mod on_failure;
mod size;

pub use builder::SummarizationBuilder;
pub use error::SummarizationError;
pub use hook::Summarization;
pub use on_failure::OnSummaryFailure;
