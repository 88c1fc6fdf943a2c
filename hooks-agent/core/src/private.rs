//! Items that macro expansions name. Nothing here is public API.

pub use schemars;
pub use serde;
pub use serde_json::Value;

pub use crate::tool::function::run_blocking;
pub use crate::tool::state::{shared, with_state};
