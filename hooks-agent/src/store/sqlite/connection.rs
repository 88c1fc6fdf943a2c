//! The connections to a file: one that writes, several that read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hooks_agent_core::store::StoreError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, Executor};

use crate::store::sql::{Limit, Place, Pool, PoolOptions};
use crate::store::sqlite::options::{SqliteOptions, Synchronous};

/// How many operations read at a time.
const READERS: u32 = 4;

/// How long an operation waits for those of the same process, and for a connection that was idle.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// What the connection that writes has besides the schema.
const WRITER: &str = include_str!("writer.sql");

/// The connections to a file.
#[derive(Debug)]
pub(super) struct Connections {
    pub(super) path: PathBuf,
    pub(super) place: Place,
    pub(super) lease_time: Duration,
    pub(super) is_read_only: bool,
    /// One connection: SQLite has one writer at a time, and waiting here is fair.
    pub(super) writer: Pool<SqliteConnection>,
    pub(super) readers: Pool<SqliteConnection>,
}

impl Connections {
    pub(super) async fn open(path: &Path, options: &SqliteOptions) -> Result<Self, StoreError> {
        let place = place_of(path);
        let writing = connect_options(path, options);
        let reading =
            if options.is_read_only { read_options(path, options) } else { writing.clone() };
        let reading = reading.pragma("query_only", "ON");
        let connections = Self {
            path: path.to_owned(),
            place: place.clone(),
            lease_time: options.lease_time,
            is_read_only: options.is_read_only,
            writer: Pool::new(place.clone(), pool(1), move || {
                let options = writing.clone();
                Box::pin(async move {
                    let mut conn = options.connect().await?;
                    conn.execute(sqlx::raw_sql(WRITER)).await?;
                    Ok(conn)
                })
            }),
            readers: Pool::new(place, pool(READERS), move || {
                let options = reading.clone();
                Box::pin(async move { options.connect().await })
            }),
        };
        let first = if options.is_read_only { &connections.readers } else { &connections.writer };
        let mut conn = first.get().await?;
        let result = conn.ping().await;
        conn.done(result)?;
        Ok(connections)
    }
}

fn pool(size: u32) -> PoolOptions {
    let test = Limit::new(LONGEST_WAIT);
    PoolOptions { size, wait: LONGEST_WAIT, trusted: LONGEST_WAIT, test }
}

/// Returns how errors name a file.
pub(super) fn place_of(path: &Path) -> Place {
    Place::new(format!("`{}`", path.display()))
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

/// Returns how a connection is made that cannot write.
pub(super) fn read_options(path: &Path, options: &SqliteOptions) -> SqliteConnectOptions {
    connect_options(path, options).read_only(true)
}
