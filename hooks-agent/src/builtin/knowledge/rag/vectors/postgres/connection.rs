//! A connection that is made again after it broke.

use std::str::FromStr;

use futures::future::BoxFuture;
use sqlx::postgres::{PgArguments, PgConnectOptions, PgConnection};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, ConnectOptions, Error, Postgres};
use tokio::sync::Mutex;

use crate::builtin::knowledge::rag::error::KnowledgeError;

/// A connection to a database. Operations take turns.
pub(super) struct Database {
    options: PgConnectOptions,
    connection: Mutex<Option<PgConnection>>,
}

/// Returns the error of an operation. Errors of the database quote neither the URL nor its password.
pub(super) fn failed(action: &'static str) -> impl Fn(Error) -> KnowledgeError {
    move |source| KnowledgeError::Database { action, source: source.into() }
}

/// Returns a statement without a name, which poolers take that give each transaction another session.
pub(super) fn statement<'q>(sql: impl Into<String>) -> Query<'q, Postgres, PgArguments> {
    sqlx::query(AssertSqlSafe(sql.into())).persistent(false)
}

impl Database {
    pub(super) fn new(url: &str) -> Result<Self, KnowledgeError> {
        // The error of the URL quotes parts of it.
        let options = PgConnectOptions::from_str(url).map_err(|_| KnowledgeError::Database {
            action: "read its URL",
            source: "it is no URL of PostgreSQL".into(),
        })?;
        Ok(Self { options: options.disable_statement_logging(), connection: Mutex::default() })
    }

    /// Runs an operation. A connection whose operation fails, or is dropped, is not used again.
    pub(super) async fn run<T>(
        &self,
        action: &'static str,
        operation: impl for<'c> FnOnce(&'c mut PgConnection) -> BoxFuture<'c, Result<T, Error>>,
    ) -> Result<T, KnowledgeError> {
        let mut place = self.connection.lock().await;
        let mut connection = match place.take() {
            Some(connection) => connection,
            None => self.options.connect().await.map_err(failed("connect"))?,
        };
        let done = operation(&mut connection).await.map_err(failed(action))?;
        *place = Some(connection);
        Ok(done)
    }
}
