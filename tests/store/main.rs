//! Stores: what outlives the process.

mod agents;
