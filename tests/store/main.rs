//! Stores: what outlives the process.

mod backend;
mod sql;
