//! The operations that SQLite and PostgreSQL do each in its own way.

use sqlx::{Database, Transaction};

use crate::database::columns::Columns;
use crate::database::error::DatabaseError;
use crate::database::limit::Limit;
use crate::database::statement::Statement;

/// Whether a transaction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads alone.
    Read,
    /// It reads and writes: nobody else writes what it has read.
    Write,
}

/// A database: [`Sqlite`](sqlx::Sqlite) or [`Postgres`](sqlx::Postgres).
pub trait Dialect: Database<Row: Columns> {
    /// Runs a statement and returns its rows.
    fn fetch(
        conn: &mut Self::Connection,
        statement: Statement<'_>,
    ) -> impl Future<Output = Result<Vec<Self::Row>, DatabaseError>> + Send;

    /// Runs a statement and returns how many rows it changed.
    fn execute(
        conn: &mut Self::Connection,
        statement: Statement<'_>,
    ) -> impl Future<Output = Result<u64, DatabaseError>> + Send;

    /// Begins a transaction, with a limit of its own for its statements or with that of the connection.
    fn begin(
        conn: &mut Self::Connection,
        access: Access,
        limit: Option<Limit>,
    ) -> impl Future<Output = Result<Transaction<'_, Self>, DatabaseError>> + Send;
}
