//! Stores: what outlives the process.

mod agents;
mod backend;
mod operations;
mod sql;
