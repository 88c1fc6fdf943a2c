//! Calls that do not come to their end.

mod anywhere;
mod cancelled;
pub(super) mod crash;
mod cut_off;
mod durability;
mod faults;
mod later_messages;
mod parallel;
pub(super) mod steps;
mod sub_agents;
