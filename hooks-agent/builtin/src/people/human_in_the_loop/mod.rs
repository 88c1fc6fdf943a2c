//! Decisions of people about tool calls, kept in the store until they are given.

mod gate;
mod hook;
mod shown;
mod text;

pub use gate::{Gate, GateError};
pub use hook::HumanInTheLoop;
