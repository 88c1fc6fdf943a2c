//! Stores: what outlives the process.
