//! Untrusted input, private data and changes of state, of which a thread has at most two.

mod hook;
mod labels;
mod thread;

pub use hook::RuleOfTwo;
pub use labels::Labels;
