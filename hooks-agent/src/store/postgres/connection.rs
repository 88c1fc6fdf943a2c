//! The connections to a database: some that run operations, one that listens.

use std::time::Duration;

use hooks_agent_core::store::StoreError;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Connection, Error};

use crate::store::migration::Migration;
use crate::store::postgres::address::{address, refused};
use crate::store::postgres::listen::Listener;
use crate::store::postgres::migrate::{look, migrate, search_path};
use crate::store::postgres::options::PostgresOptions;
use crate::store::sql::{LATEST, Limit, Place, Pool, PoolOptions, unsigned};

/// The connections to a database.
#[derive(Debug)]
pub(super) struct Connections {
    pub(super) place: Place,
    pub(super) lease_time: Duration,
    pub(super) is_read_only: bool,
    /// How long an operation of a call may take.
    pub(super) statement: Limit,
    /// How long an operation of operators may take.
    pub(super) maintenance: Limit,
    pub(super) pool: Pool<PgConnection>,
    pub(super) listener: Listener,
}

impl Connections {
    pub(super) async fn open(url: &str, options: &PostgresOptions) -> Result<Self, StoreError> {
        let (connect, place) = address(url)?;
        let schema = prepare(&connect, &place, options).await?;
        let limits = options.limits();
        let session = Session {
            options: connect.clone(),
            path: search_path(&schema),
            limit: limits.connect,
            statement: limits.statement.of_server(),
            keep_alive: options.keep_alive.as_secs().clamp(1, 32_767).to_string(),
            is_read_only: options.is_read_only,
        };
        let pool = PoolOptions {
            size: options.connections,
            wait: limits.statement.time(),
            trusted: options.keep_alive,
            test: limits.connect,
        };
        let pool = Pool::new(place.clone(), pool, move || {
            let session = session.clone();
            Box::pin(async move { session.limit.run(session.begin()).await })
        });
        let listener = if options.is_read_only {
            Listener::idle()
        } else {
            Listener::start(connect, &schema, limits.connect, options.keep_alive)
        };
        Ok(Self {
            place,
            lease_time: options.lease_time,
            is_read_only: options.is_read_only,
            statement: limits.statement,
            maintenance: limits.maintenance,
            pool,
            listener,
        })
    }
}

/// How a connection of the pool begins.
#[derive(Clone)]
struct Session {
    options: PgConnectOptions,
    path: String,
    limit: Limit,
    /// In milliseconds.
    statement: String,
    /// In seconds.
    keep_alive: String,
    is_read_only: bool,
}

impl Session {
    /// Connects, and tells the server the limits: it ends what a process left behind that is gone.
    async fn begin(&self) -> Result<PgConnection, Error> {
        let mut conn = self.options.connect().await?;
        sqlx::query(
            "SELECT set_config('search_path', $1, false),
    set_config('statement_timeout', $2, false),
    set_config('idle_in_transaction_session_timeout', $2, false),
    set_config('tcp_keepalives_idle', $3, false),
    set_config('tcp_keepalives_interval', $3, false)",
        )
        .bind(&self.path)
        .bind(&self.statement)
        .bind(&self.keep_alive)
        .execute(&mut conn)
        .await?;
        if self.is_read_only {
            let set = "SELECT set_config('default_transaction_read_only', 'on', false)";
            sqlx::query(set).execute(&mut conn).await?;
        }
        Ok(conn)
    }
}

/// Returns the schema of the store. Makes it or brings it up to date, if it is not and the options
/// allow it; nothing is written otherwise.
async fn prepare(
    connect: &PgConnectOptions,
    place: &Place,
    options: &PostgresOptions,
) -> Result<String, StoreError> {
    let failed = |error| place.opening(&error);
    let limits = options.limits();
    let mut conn = limits.connect.run(connect.connect()).await.map_err(failed)?;
    let found = limits.statement.run(look(&mut conn, options.schema.as_deref()));
    let found = found.await.map_err(failed)?;
    found.check(place, options.schema.is_some())?;
    let missing = found.version == 0 && (options.is_existing || options.is_read_only);
    if missing {
        let name = found.name.as_deref().or(options.schema.as_deref()).unwrap_or_default();
        return Err(place.refused(&format!(
            "there is no store in the schema `{name}`: make it with `PostgresOptions::migrate`"
        )));
    }
    if options.is_read_only && found.version < LATEST {
        let (found, needed) = (unsigned(found.version), unsigned(LATEST));
        return Err(StoreError::OlderSchema { found, needed });
    }
    let schema = if let (Some(name), LATEST) = (found.name, found.version) {
        name
    } else {
        migrate_with(&mut conn, place, options).await?.0
    };
    // The database ends it too, if nobody says so.
    let _ = limits.connect.run(conn.close()).await;
    Ok(schema)
}

/// Applies the migrations that a database lacks, and returns them.
pub(super) async fn migrate_url(
    url: &str,
    options: &PostgresOptions,
) -> Result<Vec<Migration>, StoreError> {
    let (connect, place) = address(url)?;
    let limits = options.limits();
    let conn = limits.connect.run(connect.connect()).await;
    let mut conn = conn.map_err(|error| place.opening(&error))?;
    migrate_with(&mut conn, &place, options).await.map(|(_, applied)| applied)
}

/// Returns the migrations that a database lacks.
pub(super) async fn missing_migrations(
    url: &str,
    options: &PostgresOptions,
) -> Result<Vec<Migration>, StoreError> {
    let (connect, place) = address(url)?;
    let limits = options.limits();
    let failed = |error| place.opening(&error);
    let mut conn = limits.connect.run(connect.connect()).await.map_err(failed)?;
    let found = limits.statement.run(look(&mut conn, options.schema.as_deref()));
    let found = found.await.map_err(failed)?;
    found.check(&place, options.schema.is_some())?;
    Ok(found.missing(options.schema.as_deref()))
}

async fn migrate_with(
    conn: &mut PgConnection,
    place: &Place,
    options: &PostgresOptions,
) -> Result<(String, Vec<Migration>), StoreError> {
    let limit = options.limits().maintenance;
    let schema = options.schema.as_deref();
    let migrated = limit.run(migrate(conn, place, schema, limit)).await;
    let (name, applied) = migrated.map_err(|error| place.opening(&error))??;
    let name = name.ok_or_else(|| refused(format!("{place}: the schema was removed")))?;
    Ok((name, applied))
}
