//! Stores: what outlives the process.

mod agents;
mod open;
mod watched;
