//! Patterns that are replaced in the results of tools.

mod hook;
mod rules;

pub use hook::Sanitize;
pub use rules::SanitizeError;
