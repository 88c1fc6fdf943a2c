//! A database: its connections, statements, rows and errors, for SQLite and PostgreSQL alike.
//!
//! Whoever keeps something in a database writes it once, over a [`Dialect`].

mod codes;
mod columns;
mod dialect;
mod error;
mod limit;
mod number;
mod place;
mod pool;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod statement;

pub use columns::Columns;
pub use dialect::{Access, Dialect};
pub use error::{DatabaseError, DatabaseErrorKind};
pub use limit::Limit;
pub use number::{millis, random_id, signed, unsigned};
pub use place::Place;
pub use pool::{Lent, Pool, PoolOptions};
pub use statement::{List, Param, Statement};
