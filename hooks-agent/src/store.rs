//! Stores: where the threads of agents and the questions to people outlive the process.

pub use hooks_agent_core::store::*;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub use hooks_agent_sql::store::*;
