//! The hook that keeps personal data from models, memory and tools.

mod asked;
mod hook;
mod reveal;
mod search;

pub use hook::PiiDetection;
