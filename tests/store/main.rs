//! Stores: what outlives the process.

mod agents;
mod kills;
mod open;
mod watched;
