//! The connections to a file: one that writes, several that read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, Executor};

use crate::store::sql::Pool;
use crate::store::{SqliteOptions, StoreError, Synchronous};

/// How many operations read at a time.
const READERS: u32 = 4;

/// What the connection that writes has besides the schema.
const WRITER: &str = include_str!("writer.sql");

/// The connections to a file.
#[derive(Debug)]
pub(super) struct Connections {
    pub(super) path: PathBuf,
    pub(super) lease_time: Duration,
    /// One connection: SQLite has one writer at a time, and waiting here is fair.
    pub(super) writer: Pool<SqliteConnection>,
    pub(super) readers: Pool<SqliteConnection>,
}

impl Connections {
    pub(super) async fn open(path: &Path, options: &SqliteOptions) -> Result<Self, StoreError> {
        let connect = connect_options(path, options);
        let writing = connect.clone();
        let reading = connect.pragma("query_only", "ON");
        let connections = Self {
            path: path.to_owned(),
            lease_time: options.lease_time,
            writer: Pool::new(1, move || {
                let options = writing.clone();
                Box::pin(async move {
                    let mut conn = options.connect().await?;
                    conn.execute(sqlx::raw_sql(WRITER)).await?;
                    Ok(conn)
                })
            }),
            readers: Pool::new(READERS, move || {
                let options = reading.clone();
                Box::pin(async move { options.connect().await })
            }),
        };
        let mut conn = connections.writer.get().await?;
        let result = conn.ping().await;
        conn.done(result)?;
        Ok(connections)
    }
}

/// Returns how a connection is made.
pub(super) fn connect_options(path: &Path, options: &SqliteOptions) -> SqliteConnectOptions {
    let synchronous = match options.synchronous {
        Synchronous::Full => SqliteSynchronous::Full,
        Synchronous::Off => SqliteSynchronous::Off,
    };
    SqliteConnectOptions::new()
        .filename(path)
        // The longest that SQLite takes, in milliseconds, is an `i32`.
        .busy_timeout(options.busy_timeout.min(Duration::from_hours(24)))
        .foreign_keys(true)
        .synchronous(synchronous)
        .pragma("temp_store", "MEMORY")
        .disable_statement_logging()
}
