//! Stores: what outlives the process.

mod agents;
mod backend;
mod chaos;
mod kills;
mod network;
mod open;
mod operations;
mod runs;
mod suite;
mod watched;
