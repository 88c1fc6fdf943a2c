//! Statements and transactions of PostgreSQL.

use sqlx::postgres::{PgArguments, PgConnection, PgRow};
use sqlx::query::Query;
use sqlx::{Connection, Postgres, Transaction};

use crate::database::dialect::{Access, Dialect};
use crate::database::error::DatabaseError;
use crate::database::limit::Limit;
use crate::database::statement::{List, Param, Statement};

impl Dialect for Postgres {
    async fn fetch(
        conn: &mut PgConnection,
        statement: Statement<'_>,
    ) -> Result<Vec<PgRow>, DatabaseError> {
        Ok(query(statement).fetch_all(conn).await?)
    }

    async fn execute(
        conn: &mut PgConnection,
        statement: Statement<'_>,
    ) -> Result<u64, DatabaseError> {
        Ok(query(statement).execute(conn).await?.rows_affected())
    }

    /// What a transaction reads is locked by its statements: `FOR UPDATE`.
    async fn begin(
        conn: &mut PgConnection,
        _: Access,
        limit: Option<Limit>,
    ) -> Result<Transaction<'_, Self>, DatabaseError> {
        // A statement after a lock sees what was written until then, whatever the default of the database.
        let mut step = conn.begin_with("BEGIN ISOLATION LEVEL READ COMMITTED").await?;
        if let Some(limit) = limit.and_then(Limit::of_server) {
            // A large import is sent for a while: the transaction is idle until all of it is there.
            let set = sqlx::query(
                "SELECT set_config('statement_timeout', $1, true),
    set_config('idle_in_transaction_session_timeout', $1, true)",
            );
            set.bind(limit).execute(&mut *step).await?;
        }
        Ok(step)
    }
}

fn query(statement: Statement<'_>) -> Query<'static, Postgres, PgArguments> {
    let (sql, params, is_prepared) = statement.into_parts();
    let query = sqlx::query(sql).persistent(is_prepared);
    params.into_iter().fold(query, |query, param| match param {
        Param::Int(int) => query.bind(int),
        Param::Text(text) => query.bind(text),
        Param::Bytes(bytes) => query.bind(bytes.as_deref()),
        Param::List(list) => bind_list(query, list),
        Param::Table(columns) => columns.into_iter().fold(query, bind_list),
    })
}

fn bind_list<'q>(
    query: Query<'q, Postgres, PgArguments>,
    list: List<'_>,
) -> Query<'q, Postgres, PgArguments> {
    match list {
        List::Ints(ints) => query.bind(ints),
        List::Texts(texts) => query.bind(texts),
    }
}
