//! SQLite and PostgreSQL for agents of hooks-agent.
//!
//! This crate is the features `sqlite` and `postgres` of
//! [`hooks-agent`](https://docs.rs/hooks-agent/latest/hooks_agent); programs use its stores from there,
//! as `store`. [The guide] says what a store keeps, and what happens when it fails.
//!
//! [`database`] is what the other crates of hooks-agent share to use a database: it changes with them.
//!
//! [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/stores/index.html

#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub mod database;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub mod store;
