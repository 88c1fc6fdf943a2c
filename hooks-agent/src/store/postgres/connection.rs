//! The connections to a database: some that run operations, one that listens.

use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Connection, Error};

use crate::store::postgres::listen::Listener;
use crate::store::postgres::migrate::migrate;
use crate::store::sql::{Pool, describe, store_error};
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
        let schema = migrate(&mut conn, options.schema.as_deref()).await?;
        conn.close().await.map_err(|error| opening(&error))?;

        let (operations, path) = (connect.clone(), search_path(&schema));
        let pool = Pool::new(options.connections, move || {
            let (options, path) = (operations.clone(), path.clone());
            Box::pin(async move {
                let mut conn = options.connect().await?;
                set_search_path(&mut conn, &path).await?;
                Ok(conn)
            })
        });
        let listener = Listener::start(connect, &schema);
        Ok(Self { lease_time: options.lease_time, pool, listener })
    }
}

/// Returns the search path that has this schema alone.
pub(super) fn search_path(schema: &str) -> String {
    format!("\"{}\"", schema.replace('"', "\"\""))
}

pub(super) async fn set_search_path(conn: &mut PgConnection, path: &str) -> Result<(), Error> {
    let set = sqlx::query("SELECT set_config('search_path', $1, false)").bind(path);
    set.execute(conn).await.map(drop)
}

/// Returns the error of a database that cannot be opened.
pub(super) fn opening(error: &Error) -> StoreError {
    let code = match error {
        Error::Database(database) => database.code().unwrap_or_default(),
        _ => "".into(),
    };
    match &*code {
        "28P01" | "28000" => refused("the user or the password is refused".to_owned()),
        "3D000" => refused("there is no such database: create it first".to_owned()),
        "42501" => refused("the user has no right to make or read the tables".to_owned()),
        "42P07" => {
            refused("the schema has a table of another program: name another one".to_owned())
        }
        _ => match store_error(error) {
            StoreError::Failed(_) => refused(describe(error)),
            other => other,
        },
    }
}

fn refused(reason: String) -> StoreError {
    StoreError::Open { reason, source: None }
}
