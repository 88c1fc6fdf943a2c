//! The events of runs.

mod disconnect;
mod failures;
mod redaction;
pub(crate) mod stream;
mod sub_agents;
mod usage;
mod versions;
