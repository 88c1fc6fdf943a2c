//! The connections to a database: some that run operations, one that listens.

use std::sync::Arc;

use hooks_agent_core::store::StoreError;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Connection, Postgres};

use crate::database::postgres::{Session, address, search_path};
use crate::database::{DatabaseError, Limit, Place, Pool, PoolOptions, unsigned};
use crate::store::connections::Connections;
use crate::store::migration::Migration;
use crate::store::postgres::listen::Listener;
use crate::store::postgres::migrate::{look, migrate};
use crate::store::postgres::options::PostgresOptions;
use crate::store::schema::LATEST;

/// Connects to a database, and makes its schema or brings it up to date.
pub(super) async fn open(
    url: &str,
    options: &PostgresOptions,
) -> Result<Connections<Postgres>, StoreError> {
    let (connect, place) = address(url)?;
    let schema = prepare(&connect, &place, options).await?;
    let limits = options.limits();
    let session = Session {
        options: connect.clone(),
        search_path: search_path(&schema),
        connect: limits.connect,
        statement: limits.statement,
        keep_alive: options.keep_alive,
        is_read_only: options.is_read_only,
    };
    let pool = PoolOptions {
        size: options.connections,
        wait: options.statement_timeout,
        trusted: options.keep_alive,
        test: limits.connect,
    };
    let pool = Arc::new(Pool::new(place.clone(), pool, move || {
        let session = session.clone();
        Box::pin(async move { session.begin().await })
    }));
    let releases = if options.is_read_only {
        Listener::idle()
    } else {
        Listener::start(connect, &schema, limits.connect, options.keep_alive)
    };
    Ok(Connections {
        place,
        lease_time: options.lease_time,
        is_read_only: options.is_read_only,
        statement: limits.statement,
        maintenance: limits.maintenance,
        reader: pool.clone(),
        writer: pool,
        releases,
    })
}

/// Connects, to look at the schema and to change it.
async fn connect_once(
    connect: &PgConnectOptions,
    place: &Place,
    limit: Limit,
) -> Result<PgConnection, DatabaseError> {
    let connected = limit.run(async { Ok(connect.connect().await?) }).await;
    connected.map_err(|error| place.opening(error))
}

/// Returns the schema of the store. Makes it or brings it up to date, if it is not and the options
/// allow it; nothing is written otherwise.
async fn prepare(
    connect: &PgConnectOptions,
    place: &Place,
    options: &PostgresOptions,
) -> Result<String, StoreError> {
    let limits = options.limits();
    let mut conn = connect_once(connect, place, limits.connect).await?;
    let found = limits.statement.run(look(&mut conn, options.schema.as_deref())).await;
    let found = found.map_err(|error| place.opening(error))?;
    found.check(place, options.schema.is_some())?;
    let missing = found.version == 0 && (options.is_existing || options.is_read_only);
    if missing {
        let name = found.name.as_deref().or(options.schema.as_deref()).unwrap_or_default();
        return Err(place
            .refused(&format!(
                "there is no store in the schema `{name}`: make it with `PostgresOptions::migrate`"
            ))
            .into());
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
    let _ = limits.connect.run(async { Ok(conn.close().await?) }).await;
    Ok(schema)
}

/// Applies the migrations that a database lacks, and returns them.
pub(super) async fn migrate_url(
    url: &str,
    options: &PostgresOptions,
) -> Result<Vec<Migration>, StoreError> {
    let (connect, place) = address(url)?;
    let mut conn = connect_once(&connect, &place, options.limits().connect).await?;
    migrate_with(&mut conn, &place, options).await.map(|(_, applied)| applied)
}

/// Returns the migrations that a database lacks.
pub(super) async fn missing_migrations(
    url: &str,
    options: &PostgresOptions,
) -> Result<Vec<Migration>, StoreError> {
    let (connect, place) = address(url)?;
    let limits = options.limits();
    let mut conn = connect_once(&connect, &place, limits.connect).await?;
    let found = limits.statement.run(look(&mut conn, options.schema.as_deref())).await;
    let found = found.map_err(|error| place.opening(error))?;
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
    let (name, applied) = migrated.map_err(|error| place.opening(error))??;
    let name = name.ok_or_else(|| place.refused("the schema was removed"))?;
    Ok((name, applied))
}
