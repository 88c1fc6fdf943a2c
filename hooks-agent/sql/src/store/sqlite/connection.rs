//! The connections to a file: one that writes, several that read.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hooks_agent_core::store::StoreError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, Executor, Sqlite};

use crate::database::sqlite::{connect_options, place_of};
use crate::database::{DatabaseError, Limit, Pool, PoolOptions};
use crate::store::connections::Connections;
use crate::store::sqlite::options::{SqliteOptions, Synchronous};
use crate::store::sqlite::release::AskAgain;

/// How many operations read at a time.
const READERS: u32 = 4;

/// How long an operation waits for those of the same process, and for a connection that was idle.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// What the connection that writes has besides the schema.
const WRITER: &str = include_str!("writer.sql");

/// Connects to a file whose schema is there.
pub(super) async fn open(
    path: &Path,
    options: &SqliteOptions,
) -> Result<Connections<Sqlite>, StoreError> {
    let place = place_of(path);
    let writing = writing(path, options);
    let reading = if options.is_read_only { reading(path, options) } else { writing.clone() };
    let reading = reading.pragma("query_only", "ON");
    let connections = Connections {
        place: place.clone(),
        lease_time: options.lease_time,
        is_read_only: options.is_read_only,
        statement: Limit::none(),
        maintenance: Limit::none(),
        // One connection: SQLite has one writer at a time, and waiting here is fair.
        writer: Arc::new(Pool::new(place.clone(), pool(1), move || {
            let options = writing.clone();
            Box::pin(async move {
                let mut conn = options.connect().await?;
                conn.execute(sqlx::raw_sql(WRITER)).await?;
                Ok(conn)
            })
        })),
        reader: Arc::new(Pool::new(place, pool(READERS), move || {
            let options = reading.clone();
            Box::pin(async move { Ok(options.connect().await?) })
        })),
        releases: AskAgain,
    };
    let first: &Pool<SqliteConnection> =
        if options.is_read_only { &connections.reader } else { &connections.writer };
    let mut conn = first.get().await?;
    let result = conn.ping().await.map_err(DatabaseError::from);
    conn.done(result)?;
    Ok(connections)
}

fn pool(size: u32) -> PoolOptions {
    let test = Limit::new(LONGEST_WAIT);
    PoolOptions { size, wait: LONGEST_WAIT, trusted: LONGEST_WAIT, test }
}

/// Returns how a connection is made.
pub(super) fn writing(path: &Path, options: &SqliteOptions) -> SqliteConnectOptions {
    let connect = connect_options(path, options.busy_timeout);
    match options.synchronous {
        Synchronous::Full => connect,
        Synchronous::Off => connect.synchronous(SqliteSynchronous::Off),
    }
}

/// Returns how a connection is made that cannot write.
pub(super) fn reading(path: &Path, options: &SqliteOptions) -> SqliteConnectOptions {
    writing(path, options).read_only(true)
}
