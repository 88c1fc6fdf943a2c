//! What every store in a database promises, on SQLite and on PostgreSQL; and what only one of
//! them does.

pub(crate) mod decisions;
pub(crate) mod errors;
mod file;
mod full_disk;
mod leases;
mod lists;
mod names;
mod pages;
mod plans;
mod server;
pub(crate) mod steps;
mod versions;
