//! Vectors in PostgreSQL, by its extension `vector`.

mod connection;
mod knowledge;
mod rows;

pub use knowledge::PgVectors;
