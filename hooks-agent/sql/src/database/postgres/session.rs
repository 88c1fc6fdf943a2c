//! Sessions with a server.

use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgConnection};

use crate::database::error::DatabaseError;
use crate::database::limit::Limit;

/// The length of the longest name of a schema, in bytes: PostgreSQL cuts longer ones.
pub const LONGEST_SCHEMA: usize = 63;

/// How a connection of a pool begins.
#[derive(Clone, Debug)]
pub struct Session {
    /// How to connect.
    pub options: PgConnectOptions,
    /// The [search path](search_path).
    pub search_path: String,
    /// How long connecting may take.
    pub connect: Limit,
    /// How long a statement may take.
    pub statement: Limit,
    /// How long a connection is silent before it is tested, at both ends.
    pub keep_alive: Duration,
    /// Whether the server refuses to write.
    pub is_read_only: bool,
}

impl Session {
    /// Connects, and tells the server the limits: it ends what a process left behind that is gone.
    ///
    /// # Errors
    /// That of the database; [`Unavailable`](crate::database::DatabaseErrorKind::Unavailable) if there is
    /// no answer in time.
    pub async fn begin(&self) -> Result<PgConnection, DatabaseError> {
        self.connect.run(self.connected()).await
    }

    async fn connected(&self) -> Result<PgConnection, DatabaseError> {
        let mut conn = self.options.connect().await?;
        let keep_alive = self.keep_alive.as_secs().clamp(1, 32_767).to_string();
        sqlx::query(
            "SELECT set_config('search_path', $1, false),
    set_config('statement_timeout', $2, false),
    set_config('idle_in_transaction_session_timeout', $2, false),
    set_config('tcp_keepalives_idle', $3, false),
    set_config('tcp_keepalives_interval', $3, false)",
        )
        .bind(&self.search_path)
        .bind(self.statement.of_server().unwrap_or_else(|| "0".to_owned()))
        .bind(keep_alive)
        .execute(&mut conn)
        .await?;
        if self.is_read_only {
            let set = "SELECT set_config('default_transaction_read_only', 'on', false)";
            sqlx::query(set).execute(&mut conn).await?;
        }
        Ok(conn)
    }
}

/// Returns the search path that has this schema alone.
#[must_use]
pub fn search_path(schema: &str) -> String {
    format!("\"{}\"", schema.replace('"', "\"\""))
}
