//! Tests of stores in a database: on both SQLite and PostgreSQL, and on only one of them.

pub(crate) mod decisions;
pub(crate) mod errors;
mod file;
mod full_disk;
mod leases;
mod lists;
mod names;
mod pages;
mod plans;
mod quotas;
mod server;
pub(crate) mod steps;
mod versions;
