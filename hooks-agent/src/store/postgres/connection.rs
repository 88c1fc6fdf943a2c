//! The connections to a database: some that run operations, one that listens.

use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Connection, Error};

use crate::store::postgres::listen::Listener;
use crate::store::postgres::migrate::migrate;
use crate::store::postgres::opening::{opening, refused, search_path, set_search_path};
use crate::store::sql::Pool;
use crate::store::{PostgresOptions, StoreError};

/// The connections to a database.
#[derive(Debug)]
pub(super) struct Connections {
    pub(super) lease_time: Duration,
    pub(super) pool: Pool<PgConnection>,
    pub(super) listener: Listener,
}

impl Connections {
    pub(super) async fn open(url: &str, options: &PostgresOptions) -> Result<Self, StoreError> {
        // The error of the URL quotes parts of it.
        let connect = PgConnectOptions::from_str(url)
            .map_err(|_| refused("the URL of the database cannot be read".to_owned()))?
            .disable_statement_logging();
        let mut conn = connect.connect().await.map_err(|error| opening(&error))?;
        let schema = migrate(&mut conn, options.schema.as_deref(), options.is_existing).await?;
        conn.close().await.map_err(|error| opening(&error))?;

        let (operations, path) = (connect.clone(), search_path(&schema));
        let pool = Pool::new(options.connections, move || {
            let (options, path) = (operations.clone(), path.clone());
            Box::pin(async move {
                let mut conn = options.connect().await?;
                set_search_path(&mut conn, &path).await?;
                set_lock_timeout(&mut conn).await?;
                Ok(conn)
            })
        });
        let listener = Listener::start(connect, &schema);
        Ok(Self { lease_time: options.lease_time, pool, listener })
    }
}

/// Bounds how long an operation waits for the row of another one that does not end.
async fn set_lock_timeout(conn: &mut PgConnection) -> Result<(), Error> {
    let set = sqlx::query("SELECT set_config('lock_timeout', '10s', false)");
    set.execute(conn).await.map(drop)
}
