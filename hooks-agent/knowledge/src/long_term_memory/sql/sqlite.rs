//! Memories in an SQLite file.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hooks_agent_sql::database::sqlite::{connect_options, place_of, prepare_file, use_wal};
use hooks_agent_sql::database::{DatabaseError, Limit, Place, Pool, PoolOptions, Statement};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, Error, Executor, Sqlite};

use crate::long_term_memory::error::MemoriesError;
use crate::long_term_memory::sql::LATEST;
use crate::long_term_memory::sql::sql_memories::{Connections, SqlMemories};
use crate::long_term_memory::sql::statements::{Statements, statements};

/// How long an operation waits while another process writes.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// How long an operation waits for those of the same process, and for a connection that was idle.
const LONGEST_TURN: Duration = Duration::from_secs(30);

/// How many operations read at a time.
const READERS: u32 = 4;

const SCHEMA: &str = include_str!("sqlite_1.sql");

/// The code of a statement that does not fit the tables.
const UNFIT: &str = "1";

/// Memories in an SQLite file, for the processes of one machine. Requires feature `sqlite`.
///
/// The file has a write-ahead log, which holds what is added before [`add`](crate::Memories::add) returns, also
/// through a loss of power. Its tables have names of their own that begin with `memory_`; tables of a
/// [store](hooks_agent_sql::store::SqliteStore) are never touched. A file of its own is best: a store makes no tables
/// in a file that has some already. A clone shares the connections.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use hooks_agent::builtin::knowledge::{Memories, Remembered, SqliteMemories};
///
/// # let folder = std::env::temp_dir().join(format!("hooks-memories-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let memories = SqliteMemories::open(folder.join("memories.db")).await?;
/// memories.add(vec![Remembered::new("ada", "Ada has a cat.")]).await?;
/// assert_eq!(memories.list("ada").await?.len(), 1);
/// # drop(memories);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type SqliteMemories = SqlMemories<Sqlite>;

impl SqlMemories<Sqlite> {
    /// Opens the memories in this file. Creates the file if there is none, with rights for its owner
    /// alone, and its tables.
    ///
    /// # Errors
    /// [`MemoriesError::Open`] if there is no such folder, or the file is a folder, read-only or no
    /// database; [`MemoriesError::NewerSchema`] if a newer program wrote it: it is left as it is.
    pub async fn open(path: impl AsRef<Path> + Send) -> Result<Self, MemoriesError> {
        let path = prepare_file(path.as_ref())?;
        let place = place_of(&path);
        let connect = connect_options(&path, LONGEST_WAIT);
        create(&connect, &place).await?;
        // One connection: SQLite has one writer at a time, and waiting here is fair.
        let writer = pool(1, place.clone(), connect.clone());
        let reader = pool(READERS, place, connect.pragma("query_only", "ON"));
        Ok(Self::of(Connections { reader, writer, limit: Limit::none() }))
    }
}

impl Statements for Sqlite {
    statements!("json_each($3) AS words", "word IN (SELECT value FROM json_each($2))");

    fn lock(_: &str) -> Option<Statement<'static>> {
        None
    }
}

fn pool(size: u32, place: Place, connect: SqliteConnectOptions) -> Arc<Pool<SqliteConnection>> {
    let test = Limit::new(LONGEST_TURN);
    let options = PoolOptions { size, wait: LONGEST_TURN, trusted: LONGEST_TURN, test };
    Arc::new(Pool::new(place, options, move || {
        let connect = connect.clone();
        Box::pin(async move { Ok(connect.connect().await?) })
    }))
}

/// Creates the tables if there are none.
async fn create(connect: &SqliteConnectOptions, place: &Place) -> Result<(), MemoriesError> {
    let failed = |error: Error| place.opening(error.into());
    let mut conn = connect.connect().await.map_err(failed)?;
    if version(&mut conn).await.map_err(failed)? < LATEST {
        use_wal(&mut conn, LONGEST_WAIT).await.map_err(|error| place.opening(error))?;
    }
    let mut step = conn.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
    let found = version(&mut step).await.map_err(failed)?;
    if found > LATEST {
        return Err(MemoriesError::NewerSchema { found, known: LATEST });
    }
    if found < LATEST {
        let created = step.execute(sqlx::raw_sql(SCHEMA)).await;
        created.map_err(DatabaseError::from).map_err(|error| match error.code() {
            Some(UNFIT) => place.refused("it has tables of another program: name another file"),
            _ => place.opening(error),
        })?;
    }
    step.commit().await.map_err(failed)?;
    conn.close().await.map_err(failed)?;
    Ok(())
}

/// Returns the version of the tables; 0 if there are none.
async fn version(conn: &mut SqliteConnection) -> Result<i64, Error> {
    let find = "SELECT count(*) FROM sqlite_schema WHERE name = 'memory_version'";
    let tables: i64 = sqlx::query_scalar(find).fetch_one(&mut *conn).await?;
    if tables == 0 {
        return Ok(0);
    }
    sqlx::query_scalar("SELECT version FROM memory_version").fetch_one(conn).await
}
