//! Calls that go in circles.

mod fold;
mod hook;
mod rounds;

pub use hook::{LoopDetected, LoopDetection};
