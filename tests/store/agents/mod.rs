//! Agents on a store: what a call finds after another process, and after a crash.

mod cancelled;
mod crash;
mod durability;
mod faults;
mod gate;
mod limits;
mod parallel;
mod shared;
mod sub_agents;
mod threads;
mod values;
