//! Metrics of a store, through the facade of the crate `metrics`.

mod shared;
mod steps;
mod store;

pub use store::MeteredStore;
