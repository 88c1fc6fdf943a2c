//! Errors of databases, without what they quote.

use sqlx::Error;

use crate::store::StoreError;

/// An error of a database: its code, or the kind of what failed. The text of the database is left out,
/// for it may quote what is stored.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Failure(String);

/// Returns the error of a store for one of a database.
pub(crate) fn store_error(error: &Error) -> StoreError {
    let cause = Failure(describe(error)).into();
    match error {
        Error::Database(database) => match database.code().as_deref().map(class) {
            Some(Class::Full) => StoreError::Full(cause),
            Some(Class::Transient) => StoreError::Unavailable(cause),
            _ => StoreError::Failed(cause),
        },
        Error::Io(io) if io.kind() == std::io::ErrorKind::StorageFull => StoreError::Full(cause),
        Error::Io(_)
        | Error::Tls(_)
        | Error::Protocol(_)
        | Error::PoolTimedOut
        | Error::PoolClosed
        | Error::WorkerCrashed
        | Error::BeginFailed => StoreError::Unavailable(cause),
        _ => StoreError::Failed(cause),
    }
}

/// Returns the error of a store that cannot be reached now.
pub(crate) fn unavailable(why: &str) -> StoreError {
    StoreError::Unavailable(Failure(why.to_owned()).into())
}

/// Returns whether the connection of the error is of no more use.
pub(crate) fn is_broken(error: &Error) -> bool {
    match error {
        // The server ends the connection with these.
        Error::Database(database) => {
            database.code().is_some_and(|code| code.len() == 5 && code.starts_with("57P"))
        }
        Error::RowNotFound
        | Error::ColumnNotFound(_)
        | Error::ColumnIndexOutOfBounds { .. }
        | Error::ColumnDecode { .. }
        | Error::Decode(_)
        | Error::Encode(_) => false,
        _ => true,
    }
}

/// Returns whether SQLite refused a statement by a trigger.
#[cfg(feature = "sqlite")]
pub(crate) fn is_raised(error: &Error) -> bool {
    matches!(error, Error::Database(database) if database.code().as_deref() == Some("1811"))
}

/// Returns what failed, without any text of the database.
pub(crate) fn describe(error: &Error) -> String {
    match error {
        Error::Database(database) => {
            let code = database.code().unwrap_or_default();
            format!("the database returned the error {code}")
        }
        Error::Io(io) => format!("the connection failed: {}", io.kind()),
        Error::Tls(_) => "the connection cannot be encrypted".to_owned(),
        Error::Protocol(_) => "the connection broke".to_owned(),
        Error::Configuration(_) => "the address of the database cannot be read".to_owned(),
        Error::WorkerCrashed => "the thread of the connection ended".to_owned(),
        Error::ColumnDecode { index, .. } => format!("the column {index} cannot be read"),
        _ => "the operation of the database failed".to_owned(),
    }
}

enum Class {
    Full,
    Transient,
    Other,
}

/// Classifies a code: of five characters for PostgreSQL, a number for SQLite.
fn class(code: &str) -> Class {
    if code.len() == 5 {
        return match code {
            "53100" => Class::Full,
            // Serialization failures and deadlocks; a lock that is not available; a statement that was
            // cancelled; a server that shuts down, starts or has too many connections.
            "40001" | "40P01" | "55P03" | "57014" => Class::Transient,
            _ if code.starts_with("57P") || code.starts_with("53") || code.starts_with("08") => {
                Class::Transient
            }
            _ => Class::Other,
        };
    }
    // The low byte is the primary code.
    match code.parse::<u32>().map(|code| code & 0xff) {
        Ok(13) => Class::Full,
        // Busy, locked, a file that cannot be opened now.
        Ok(5 | 6 | 14) => Class::Transient,
        _ => Class::Other,
    }
}
