//! Options of a store in a PostgreSQL database.

use std::time::Duration;

use hooks_agent_core::store::{StoreError, check_name};

use crate::database::Limit;
use crate::database::postgres::LONGEST_SCHEMA;
use crate::store::migration::Migration;
use crate::store::postgres::connection::{migrate_url, missing_migrations, open};
use crate::store::postgres::store::PostgresStore;

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
    pub(super) is_read_only: bool,
    pub(super) connect_timeout: Duration,
    pub(super) statement_timeout: Duration,
    pub(super) maintenance_timeout: Duration,
    pub(super) keep_alive: Duration,
}

/// How long operations may take.
pub(super) struct Limits {
    pub(super) connect: Limit,
    pub(super) statement: Limit,
    pub(super) maintenance: Limit,
}

impl PostgresOptions {
    pub(super) fn new() -> Self {
        Self {
            lease_time: Duration::from_secs(30),
            connections: 16,
            schema: None,
            is_existing: false,
            is_read_only: false,
            connect_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(10),
            maintenance_timeout: Duration::from_mins(10),
            keep_alive: Duration::from_secs(15),
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

    /// Sets how long connecting may take; 5 seconds by default.
    pub fn connect_timeout(mut self, time: Duration) -> Self {
        self.connect_timeout = time;
        self
    }

    /// Sets how long an operation of a call, a list or a decision may take; 10 seconds by default. The
    /// server itself gives up a tenth earlier. Operations that may be repeated are tried again within
    /// this time if the server is not available.
    ///
    /// Keep it under the third part of [`lease_time`](Self::lease_time), after which leases are renewed.
    pub fn statement_timeout(mut self, time: Duration) -> Self {
        self.statement_timeout = time;
        self
    }

    /// Sets how long an operation of operators may take: a migration, an import, `prune`, `report`, and
    /// `forget` of more than one thread; 10 minutes by default.
    pub fn maintenance_timeout(mut self, time: Duration) -> Self {
        self.maintenance_timeout = time;
        self
    }

    /// Sets how long a connection is silent before it is tested, at both ends; 15 seconds by default.
    pub fn keep_alive(mut self, time: Duration) -> Self {
        self.keep_alive = time;
        self
    }

    /// Sets the schema of the tables. Default: the first one of the search path of the user.
    pub fn schema(mut self, name: impl Into<String>) -> Self {
        self.schema = Some(name.into());
        self
    }

    /// Refuses a database that has no store, in place of making one.
    pub fn existing(mut self) -> Self {
        self.is_existing = true;
        self
    }

    /// Opens the store to read alone: for dashboards, and for replicas. Operations that write fail with
    /// [`StoreError::ReadOnly`]. The schema must be that of this program.
    pub fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }

    /// Connects to the database of this URL. See [`PostgresStore::connect`].
    ///
    /// # Errors
    /// Those of [`PostgresStore::connect`]; [`StoreError::Name`] if the name of the schema is empty or
    /// has a NUL character, [`StoreError::Open`] if it is longer than 63 bytes.
    pub async fn connect(self, url: &str) -> Result<PostgresStore, StoreError> {
        self.check()?;
        Ok(PostgresStore::of(open(url, &self).await?))
    }

    /// Makes the schema and the tables, or brings them up to date, in one transaction. Returns what was
    /// applied.
    ///
    /// A program that connects with a user who may not do this needs it done before, by one who may.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), hooks_agent::store::StoreError> {
    /// use hooks_agent::store::PostgresStore;
    ///
    /// let options = PostgresStore::options().schema("agents");
    /// let owner = "postgres://owner@db.example.com/agents";
    /// for migration in options.clone().dry_run(owner).await? {
    ///     println!("{migration}");
    /// }
    /// options.migrate(owner).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`connect`](Self::connect).
    pub async fn migrate(self, url: &str) -> Result<Vec<Migration>, StoreError> {
        self.check()?;
        migrate_url(url, &self).await
    }

    /// Returns what [`migrate`](Self::migrate) would apply, and writes nothing.
    ///
    /// # Errors
    /// Those of [`connect`](Self::connect).
    pub async fn dry_run(self, url: &str) -> Result<Vec<Migration>, StoreError> {
        self.check()?;
        missing_migrations(url, &self).await
    }

    pub(super) fn limits(&self) -> Limits {
        Limits {
            connect: Limit::new(self.connect_timeout),
            statement: Limit::new(self.statement_timeout),
            maintenance: Limit::new(self.maintenance_timeout),
        }
    }

    fn check(&self) -> Result<(), StoreError> {
        let Some(schema) = &self.schema else { return Ok(()) };
        check_name("name of the schema", schema)?;
        if schema.len() > LONGEST_SCHEMA {
            let reason = "the name of the schema has more than 63 bytes".to_owned();
            return Err(StoreError::Open { reason, source: None });
        }
        Ok(())
    }
}
