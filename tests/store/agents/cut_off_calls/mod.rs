//! Calls that do not come to their end.

mod anywhere;
mod cancelled;
pub(super) mod crash;
mod cut_off;
mod durability;
mod faults;
mod parallel;
mod sub_agents;
