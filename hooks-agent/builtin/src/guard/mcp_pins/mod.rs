//! Pins of tools of servers: what a person has seen of them, so that another one by the name does not run.

mod error;
mod hook;
mod phrases;
mod pins;

pub use error::McpPinsError;
pub use hook::McpPins;
