//! Errors of databases, without what they quote.

use std::io::{self, ErrorKind};
use std::time::Duration;

use hooks_agent_core::store::StoreError;
use sqlx::Error;

use crate::database::codes::{Class, cause_of_code, class_of_code};

/// The error of a database: what failed, and what to do. The text of the database is left out, for it may
/// quote what is stored.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct DatabaseError {
    kind: DatabaseErrorKind,
    text: String,
    code: Option<String>,
    /// Whether the connection is of no more use.
    is_broken: bool,
    source: Option<io::Error>,
}

/// The kind of an error of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseErrorKind {
    /// The database cannot be opened.
    Open,
    /// The database cannot be reached now, or is busy. The operation may be tried again.
    Unavailable,
    /// The disk is full, or a quota is reached.
    Full,
    /// The database refused the operation.
    Failed,
}

impl DatabaseError {
    fn new(kind: DatabaseErrorKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), code: None, is_broken: false, source: None }
    }

    /// Returns the error of a database that cannot be opened.
    pub fn refused(reason: impl Into<String>) -> Self {
        Self::new(DatabaseErrorKind::Open, reason)
    }

    /// Returns the error of a database that cannot be reached now.
    pub fn unavailable(why: impl Into<String>) -> Self {
        Self::new(DatabaseErrorKind::Unavailable, why)
    }

    /// Returns the error of an operation without an answer.
    pub(crate) fn no_answer(limit: Duration) -> Self {
        let error = Self::unavailable(format!("does not answer within {limit:?}"));
        Self { is_broken: true, ..error }
    }

    /// Sets the cause.
    #[cfg(feature = "sqlite")]
    pub(crate) fn with_source(self, source: Option<io::Error>) -> Self {
        Self { source, ..self }
    }

    /// Returns the error with a text before its own.
    pub(crate) fn before(self, text: &str) -> Self {
        Self { text: format!("{text}{}", self.text), ..self }
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> DatabaseErrorKind {
        self.kind
    }

    /// Returns the cause, if the error is one of the operating system.
    #[must_use]
    pub fn into_source(self) -> Option<io::Error> {
        self.source
    }

    /// Returns the code of the database: of five characters for PostgreSQL, a number for SQLite.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }

    /// Returns whether the same operation may succeed if it is tried again.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.kind == DatabaseErrorKind::Unavailable
    }

    /// Returns whether the connection is of no more use.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken
    }
}

/// Leaves out the text of the database, and writes it to a log that is off unless operators turn it on.
impl From<Error> for DatabaseError {
    fn from(error: Error) -> Self {
        tracing::trace!(target: "hooks_agent::store::database", %error, "the database said");
        let code = match &error {
            Error::Database(database) => database.code().map(String::from),
            _ => None,
        };
        let (kind, text) = (kind_of(&error, code.as_deref()), describe(&error, code.as_deref()));
        let is_broken = is_broken(&error, code.as_deref());
        Self { code, is_broken, ..Self::new(kind, text) }
    }
}

impl From<DatabaseError> for StoreError {
    fn from(error: DatabaseError) -> Self {
        match error.kind {
            DatabaseErrorKind::Open => {
                Self::Open { reason: error.text, source: error.source.map(Into::into) }
            }
            DatabaseErrorKind::Unavailable => Self::Unavailable(error.into()),
            DatabaseErrorKind::Full => Self::Full(error.into()),
            DatabaseErrorKind::Failed => Self::Failed(error.into()),
        }
    }
}

fn kind_of(error: &Error, code: Option<&str>) -> DatabaseErrorKind {
    match error {
        Error::Database(_) => match code.map(class_of_code) {
            Some(Class::Full) => DatabaseErrorKind::Full,
            Some(Class::Transient) => DatabaseErrorKind::Unavailable,
            _ => DatabaseErrorKind::Failed,
        },
        Error::Io(io) if io.kind() == ErrorKind::StorageFull => DatabaseErrorKind::Full,
        Error::Io(_)
        | Error::Tls(_)
        | Error::Protocol(_)
        | Error::PoolTimedOut
        | Error::PoolClosed
        | Error::WorkerCrashed
        | Error::BeginFailed => DatabaseErrorKind::Unavailable,
        _ => DatabaseErrorKind::Failed,
    }
}

fn is_broken(error: &Error, code: Option<&str>) -> bool {
    match error {
        // The server ends the connection with these.
        Error::Database(_) => code.is_some_and(|code| code.len() == 5 && code.starts_with("57P")),
        Error::RowNotFound
        | Error::ColumnNotFound(_)
        | Error::ColumnIndexOutOfBounds { .. }
        | Error::ColumnDecode { .. }
        | Error::Decode(_)
        | Error::Encode(_) => false,
        _ => true,
    }
}

/// Returns what failed and what to do, without any text of the database.
fn describe(error: &Error, code: Option<&str>) -> String {
    match error {
        Error::Database(_) => describe_code(code.unwrap_or_default()),
        Error::Io(io) => describe_connection(io.kind()),
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

fn describe_code(code: &str) -> String {
    match cause_of_code(code) {
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
