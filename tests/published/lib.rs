//! Hooks for agents, as a crate of its own publishes them: retries with fallback, and a census that
//! the linker adds to every agent.

pub mod census;
mod fallback;

pub use fallback::Fallback;
