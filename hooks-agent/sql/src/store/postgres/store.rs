//! The store in a PostgreSQL database.

use hooks_agent_core::store::StoreError;
use sqlx::Postgres;

use crate::store::postgres::options::PostgresOptions;
use crate::store::sql_store::SqlStore;

/// The store in a PostgreSQL database: for many workers. Requires feature `postgres`.
///
/// A clone is a handle of the same connections. One more connection listens for threads that are
/// released; the task that reads it ends when the last handle is dropped.
///
/// ```no_run
/// # async fn example() -> Result<(), hooks_agent::store::StoreError> {
/// use hooks_agent::store::{Filter, PostgresStore, Store};
///
/// let url = "postgres://clerk@db.example.com/agents?sslmode=verify-full";
/// let store = PostgresStore::connect(url).await?;
/// println!("{} questions wait", store.waiting(Filter::all()).await?.len());
/// # Ok(())
/// # }
/// ```
pub type PostgresStore = SqlStore<Postgres>;

impl SqlStore<Postgres> {
    /// Connects to the database of this URL, with the default options. Makes the schema, or brings it up
    /// to date, if it is not; a database that is up to date is only read, so that the user needs no right
    /// to make tables. The URL says whether the connections are encrypted (`sslmode`). Its user and its
    /// password are in no error and in no `Debug`.
    ///
    /// # Errors
    /// [`StoreError::Open`] if the URL cannot be read, the user is refused or there is no such
    /// database; [`StoreError::Unavailable`] if the server cannot be reached in time;
    /// [`StoreError::NewerSchema`] if a newer program made the tables: they are left as they are.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        Self::options().connect(url).await
    }

    /// Connects to read alone, with the default options: on replicas too. See
    /// [`PostgresOptions::read_only`].
    ///
    /// # Errors
    /// Those of [`connect`](Self::connect); [`StoreError::OlderSchema`] if the schema is not that of
    /// this program.
    pub async fn read_only(url: &str) -> Result<Self, StoreError> {
        Self::options().read_only().connect(url).await
    }

    /// Returns the options of a store, to change them and connect.
    pub fn options() -> PostgresOptions {
        PostgresOptions::new()
    }
}
