//! The hook that keeps personal data from models, memory and tools.

mod hook;
mod search;

pub use hook::PiiDetection;
