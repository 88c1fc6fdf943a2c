//! Agents on a store: what a call finds after another process, and after a crash.

mod attacks;
mod cancelled;
mod crash;
mod cut_off;
mod digest;
mod durability;
mod expiry;
mod faults;
mod gate;
mod limits;
mod parallel;
mod people;
mod random_steps;
mod shared;
mod stores;
mod sub_agents;
mod threads;
mod values;
