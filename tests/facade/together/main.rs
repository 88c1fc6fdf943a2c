//! Built-in hooks together on one agent, and under faults.

mod agents;
mod cancelled;
mod clocks;
mod faults;
mod interrupted;
mod journals;
mod many;
mod models;
mod nested;
mod order;
mod resumed;
mod shadow;
mod tools;
