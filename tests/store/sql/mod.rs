//! What every store in a database promises, on SQLite and on PostgreSQL; and what only one of
//! them does.

pub(crate) mod decisions;
mod file;
mod full_disk;
mod leases;
mod lists;
mod names;
mod plans;
mod server;
pub(crate) mod steps;
