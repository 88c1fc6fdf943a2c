//! Options of a store in a PostgreSQL database.

use std::sync::Arc;
use std::time::Duration;

use crate::store::key::check_name;
use crate::store::postgres::connection::Connections;
use crate::store::{PostgresStore, StoreError};

/// Options of a [`PostgresStore`].
///
/// ```no_run
/// # async fn example() -> Result<(), hooks_agent::store::StoreError> {
/// use hooks_agent::store::PostgresStore;
///
/// let url = "postgres://clerk@db.example.com/agents?sslmode=verify-full";
/// let store = PostgresStore::options().connections(8).schema("agents").connect(url).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct PostgresOptions {
    pub(super) lease_time: Duration,
    pub(super) connections: u32,
    pub(super) schema: Option<String>,
    pub(super) is_existing: bool,
}

impl PostgresOptions {
    /// The length of the longest name of a schema, in bytes: PostgreSQL cuts longer ones.
    const LONGEST_SCHEMA: usize = 63;

    pub(super) fn new() -> Self {
        Self {
            lease_time: Duration::from_secs(30),
            connections: 16,
            schema: None,
            is_existing: false,
        }
    }

    /// Sets how long a lease lasts without being renewed; 30 seconds by default.
    pub fn lease_time(mut self, time: Duration) -> Self {
        self.lease_time = time;
        self
    }

    /// Sets how many operations run at a time, each on a connection of its own; 16 by default. One more
    /// connection listens for threads that are released.
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

    /// Refuses a database that has no store, in place of making one.
    pub fn existing(mut self) -> Self {
        self.is_existing = true;
        self
    }

    /// Connects to the database of this URL. See [`PostgresStore::connect`].
    ///
    /// # Errors
    /// Those of [`PostgresStore::connect`]; [`StoreError::Name`] if the name of the schema is empty or
    /// has a NUL character, [`StoreError::Open`] if it is longer than 63 bytes.
    pub async fn connect(self, url: &str) -> Result<PostgresStore, StoreError> {
        if let Some(schema) = &self.schema {
            check_name("name of the schema", schema)?;
            if schema.len() > Self::LONGEST_SCHEMA {
                let reason = "the name of the schema has more than 63 bytes".to_owned();
                return Err(StoreError::Open { reason, source: None });
            }
        }
        let connections = Connections::open(url, &self).await?;
        Ok(PostgresStore::of(Arc::new(connections)))
    }
}
