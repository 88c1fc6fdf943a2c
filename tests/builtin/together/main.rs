//! Built-in hooks together on one agent, and under faults.

mod agents;
mod cancelled;
mod faults;
mod interrupted;
mod many;
mod models;
mod order;
mod tools;
