//! What the host does with verdicts, in calls of agents.

mod attacked;
mod declared;
mod memory;
mod order;
mod people;
mod points;
mod reasons;
mod records;
mod streams;
mod support;
mod tools;
