//! The connection to a database.

use std::time::Duration;

use futures::future::BoxFuture;
use hooks_agent_sql::database::postgres::address;
use hooks_agent_sql::database::{DatabaseError, Limit, Pool, PoolOptions};
use sqlx::ConnectOptions;
use sqlx::postgres::PgConnection;

use crate::rag::error::KnowledgeError;

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(5);

/// How long an operation may take, and wait for those before it.
const OPERATION: Duration = Duration::from_mins(1);

/// How long a connection is silent before it is tested.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A connection to a database. Operations take turns.
pub(super) struct Database(Pool<PgConnection>);

impl Database {
    pub(super) fn new(url: &str) -> Result<Self, KnowledgeError> {
        let (connect, place) = address(url).map_err(failed("read its URL"))?;
        let limit = Limit::new(CONNECT);
        let options = PoolOptions { size: 1, wait: OPERATION, trusted: KEEP_ALIVE, test: limit };
        Ok(Self(Pool::new(place, options, move || {
            let connect = connect.clone();
            Box::pin(limit.run(async move { Ok(connect.connect().await?) }))
        })))
    }

    /// Runs an operation. A connection whose operation breaks it, or is dropped, is not used again.
    pub(super) async fn run<T>(
        &self,
        action: &'static str,
        operation: impl for<'c> FnOnce(&'c mut PgConnection) -> BoxFuture<'c, Result<T, DatabaseError>>,
    ) -> Result<T, KnowledgeError> {
        let mut conn = self.0.get().await.map_err(failed("connect"))?;
        let done = Limit::new(OPERATION).run(operation(&mut conn)).await;
        conn.done(done).map_err(failed(action))
    }
}

/// Returns the error of an operation.
fn failed(action: &'static str) -> impl Fn(DatabaseError) -> KnowledgeError {
    move |source| KnowledgeError::Database { action, source: source.into() }
}
