//! Search by the meaning of texts: vectors of an [`Embedder`], kept beside a text index and searched
//! exactly, or in PostgreSQL.

mod embed;
mod file;
mod index;
mod matrix;
#[cfg(feature = "postgres")]
mod postgres;

pub use index::{Embedded, VectorIndex};
#[cfg(feature = "postgres")]
pub use postgres::PgVectors;
