//! Hooks that ask people: what waits for a decision outlives the process.

mod human_in_the_loop;
#[cfg(feature = "policy")]
mod policy;

pub use human_in_the_loop::{Gate, GateError, HumanInTheLoop};
