//! Errors of databases, without what they quote.

use std::io::ErrorKind;
use std::time::Duration;

use hooks_agent_core::store::StoreError;
use sqlx::Error;
use sqlx::error::DatabaseError;

use crate::store::sql::cause::cause_of_code;

/// What failed, and what to do. The text of the database is left out, for it may quote what is stored.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Failure(String);

/// What a server does not do in time.
#[derive(Debug, thiserror::Error)]
#[error("does not answer within {0:?}")]
pub(crate) struct NoAnswer(pub(crate) Duration);

/// Returns the error of a store for one of reading a row.
pub(crate) fn store_error(error: &Error) -> StoreError {
    classified(error, describe(error))
}

/// Returns the error of a store for one of a database, with this text.
pub(crate) fn classified(error: &Error, text: String) -> StoreError {
    let cause = Failure(text).into();
    match error {
        Error::Database(database) => match database.code().as_deref().map(class) {
            Some(Class::Full) => StoreError::Full(cause),
            Some(Class::Transient) => StoreError::Unavailable(cause),
            _ => StoreError::Failed(cause),
        },
        Error::Io(io) if io.kind() == ErrorKind::StorageFull => StoreError::Full(cause),
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
pub(crate) fn unavailable(why: impl Into<String>) -> StoreError {
    StoreError::Unavailable(Failure(why.into()).into())
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

/// Returns what failed and what to do, without any text of the database.
pub(crate) fn describe(error: &Error) -> String {
    match error {
        Error::Database(database) => describe_database(&**database),
        Error::Io(io) => match io.get_ref().and_then(|inner| inner.downcast_ref::<NoAnswer>()) {
            Some(no_answer) => no_answer.to_string(),
            None => describe_connection(io.kind()),
        },
        Error::Tls(_) => {
            "the connection cannot be encrypted: check `sslmode` and the certificates".to_owned()
        }
        Error::Protocol(_) => "the connection broke".to_owned(),
        Error::Configuration(_) => "the address of the database cannot be read".to_owned(),
        Error::WorkerCrashed => "the thread of the connection ended".to_owned(),
        Error::ColumnDecode { index, .. } => {
            format!("the column {index} of a row cannot be read: another program wrote it")
        }
        _ => "the operation of the database failed".to_owned(),
    }
}

fn describe_database(error: &dyn DatabaseError) -> String {
    let code = error.code().unwrap_or_default();
    match cause_of_code(&code) {
        Some(cause) => format!("{cause} (error {code})"),
        None => format!("the database returned the error {code}: its log says more"),
    }
}

fn describe_connection(kind: ErrorKind) -> String {
    match kind {
        ErrorKind::ConnectionRefused => {
            "the connection is refused: is the server running, and the port right?".to_owned()
        }
        ErrorKind::NotFound => "there is no such socket: is the server running?".to_owned(),
        ErrorKind::UnexpectedEof
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe => "the connection broke".to_owned(),
        // The kind of the error of a name that is not resolved has no name.
        kind => format!("the connection failed ({kind}): is the host right, and reachable?"),
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
            // cancelled; a transaction that was idle for too long; a server that shuts down, starts or
            // has too many connections.
            "40001" | "40P01" | "55P03" | "57014" | "25P03" => Class::Transient,
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
