//! Stores: what outlives the process.

mod agents;
mod backend;
mod kills;
mod open;
mod operations;
mod sql;
mod watched;
