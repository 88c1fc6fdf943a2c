//! Questions to people, and their decisions.

mod decisions;
mod digest;
mod expiry;
mod foreign;
mod remembered;
mod shown;
mod sub_agents;
