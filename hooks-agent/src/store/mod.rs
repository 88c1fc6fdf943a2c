//! Stores: where the threads of agents and the questions to people outlive the process.

mod open;

pub use hooks_agent_core::store::*;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub use hooks_agent_sql::store::*;
pub use open::{check, open, open_read_only};
