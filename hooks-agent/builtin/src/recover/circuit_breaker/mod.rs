//! A hook that stops calling what fails.

mod breaker;
mod circuit;
mod watched;

pub use breaker::CircuitBreaker;
pub use circuit::{CircuitChange, CircuitOpen, CircuitState};
