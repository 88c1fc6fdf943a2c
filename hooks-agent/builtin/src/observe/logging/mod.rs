//! A log of calls, through `tracing` or as lines of text.

mod fields;
mod hook;
mod output;

pub use hook::Logging;
