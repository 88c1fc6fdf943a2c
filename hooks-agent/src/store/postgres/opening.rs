//! What opening a database needs: its search path, and clear errors.

use sqlx::Error;
use sqlx::postgres::PgConnection;

use crate::store::StoreError;
use crate::store::sql::{describe, store_error};

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

pub(super) fn refused(reason: String) -> StoreError {
    StoreError::Open { reason, source: None }
}
