//! Options of memories in a PostgreSQL database.

use crate::long_term_memory::error::MemoriesError;
use crate::long_term_memory::sql::postgres::{PostgresMemories, open};

/// Options of [`PostgresMemories`].
///
/// ```no_run
/// # async fn example() -> Result<(), hooks_agent::builtin::knowledge::MemoriesError> {
/// use hooks_agent::builtin::knowledge::PostgresMemories;
///
/// let url = "postgres://clerk@db.example.com/agents?sslmode=verify-full";
/// let memories = PostgresMemories::options().schema("memories").connect(url).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct PostgresMemoriesOptions {
    pub(super) connections: u32,
    pub(super) schema: Option<String>,
}

impl PostgresMemoriesOptions {
    pub(super) fn new() -> Self {
        Self { connections: 8, schema: None }
    }

    /// Sets how many operations run at a time, each on a connection of its own; 8 by default.
    pub fn connections(mut self, count: u32) -> Self {
        self.connections = count;
        self
    }

    /// Sets the schema of the tables. It is created if there is none. Default: the first one of the
    /// search path of the user.
    pub fn schema(mut self, name: impl Into<String>) -> Self {
        self.schema = Some(name.into());
        self
    }

    /// Connects to the database of this URL. See [`PostgresMemories::connect`].
    ///
    /// # Errors
    /// Those of [`PostgresMemories::connect`]; [`MemoriesError::Open`] if the name of the schema is empty,
    /// has a NUL character or is longer than 63 bytes.
    pub async fn connect(self, url: &str) -> Result<PostgresMemories, MemoriesError> {
        Ok(PostgresMemories::of(open(url, &self).await?))
    }
}
