//! Statements and transactions of SQLite.

use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteConnection, SqliteRow};
use sqlx::{Connection, Sqlite, Transaction};

use crate::database::dialect::{Access, Dialect};
use crate::database::error::DatabaseError;
use crate::database::limit::Limit;
use crate::database::statement::{List, Param, Statement};

impl Dialect for Sqlite {
    async fn fetch(
        conn: &mut SqliteConnection,
        statement: Statement<'_>,
    ) -> Result<Vec<SqliteRow>, DatabaseError> {
        Ok(query(statement).fetch_all(conn).await?)
    }

    async fn execute(
        conn: &mut SqliteConnection,
        statement: Statement<'_>,
    ) -> Result<u64, DatabaseError> {
        Ok(query(statement).execute(conn).await?.rows_affected())
    }

    /// Statements have no limit here: they end by themselves, or wait for a lock as long as the
    /// connection says.
    async fn begin(
        conn: &mut SqliteConnection,
        access: Access,
        _: Option<Limit>,
    ) -> Result<Transaction<'_, Self>, DatabaseError> {
        Ok(match access {
            Access::Read => conn.begin().await?,
            // The lock to write is taken first: a transaction that takes it later may be refused it.
            Access::Write => conn.begin_with("BEGIN IMMEDIATE").await?,
        })
    }
}

fn query(statement: Statement<'_>) -> Query<'static, Sqlite, SqliteArguments> {
    let (sql, params, is_prepared) = statement.into_parts();
    let query = sqlx::query(sql).persistent(is_prepared);
    params.into_iter().fold(query, |query, param| match param {
        Param::Int(int) => query.bind(int),
        Param::Text(text) => query.bind(text.map(std::borrow::Cow::into_owned)),
        Param::Bytes(bytes) => query.bind(bytes.map(std::borrow::Cow::into_owned)),
        Param::List(list) => query.bind(json(list.len(), &list)),
        Param::Table(columns) => {
            let rows = columns.iter().map(List::len).min().unwrap_or_default();
            query.bind(json(rows, &Rows { rows, columns: &columns }))
        }
    })
}

/// Returns JSON; NULL for no elements.
fn json(elements: usize, value: &impl Serialize) -> Option<String> {
    if elements == 0 {
        return None;
    }
    Some(serde_json::to_string(value).expect("numbers and texts have a JSON"))
}

/// A table as an array of rows.
struct Rows<'a> {
    rows: usize,
    columns: &'a [List<'a>],
}

/// A row of a table.
struct Cells<'a> {
    row: usize,
    columns: &'a [List<'a>],
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let cells = |row| Cells { row, columns: self.columns };
        serializer.collect_seq((0..self.rows).map(cells))
    }
}

impl Serialize for Cells<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut cells = serializer.serialize_seq(Some(self.columns.len()))?;
        for column in self.columns {
            match column {
                List::Ints(ints) => cells.serialize_element(&ints[self.row])?,
                List::Texts(texts) => cells.serialize_element(&texts[self.row])?,
            }
        }
        cells.end()
    }
}

impl Serialize for List<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Ints(ints) => ints.serialize(serializer),
            Self::Texts(texts) => texts.serialize(serializer),
        }
    }
}

impl List<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Ints(ints) => ints.len(),
            Self::Texts(texts) => texts.len(),
        }
    }
}
