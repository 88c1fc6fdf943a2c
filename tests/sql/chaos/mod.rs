//! Processes that are killed while the network and the server fail too: sub-agents, people's decisions
//! and limits come out of it as if nothing had happened.

mod check;
mod cluster;
mod kills;
mod weather;
pub(crate) mod worker;
