//! Errors of databases, without what they quote.

use sqlx::Error;

use crate::builtin::knowledge::long_term_memory::error::MemoriesError;

/// Returns the error of memories for one of a database. The text of the database is left out, for it
/// may quote what is remembered.
pub(in crate::builtin::knowledge::long_term_memory) fn memories_error(
    error: &Error,
) -> MemoriesError {
    let cause = describe(error).into();
    match error {
        Error::Database(database) => match database.code() {
            Some(code) if is_transient(&code) => MemoriesError::Unavailable(cause),
            _ => MemoriesError::Failed(cause),
        },
        Error::Io(_)
        | Error::Tls(_)
        | Error::Protocol(_)
        | Error::PoolTimedOut
        | Error::PoolClosed
        | Error::WorkerCrashed
        | Error::BeginFailed => MemoriesError::Unavailable(cause),
        _ => MemoriesError::Failed(cause),
    }
}

/// Returns what failed, without any text of the database.
pub(in crate::builtin::knowledge::long_term_memory) fn describe(error: &Error) -> String {
    match error {
        Error::Database(database) => {
            let code = database.code().unwrap_or_default();
            format!("the database returned the error {code}")
        }
        Error::Io(io) => format!("the connection failed: {}", io.kind()),
        Error::PoolTimedOut => "all connections are in use".to_owned(),
        _ => "the operation of the database failed".to_owned(),
    }
}

/// Returns whether a code is of a failure that may pass: of five characters for PostgreSQL, a number for
/// SQLite.
fn is_transient(code: &str) -> bool {
    if code.len() == 5 {
        // Serialization failures and deadlocks, locks, cancelled statements; a server that shuts down,
        // starts, has no room or too many connections.
        return matches!(code, "40001" | "40P01" | "55P03" | "57014")
            || ["57P", "53", "08"].iter().any(|class| code.starts_with(class));
    }
    // The low byte is the primary code: busy, locked, full, a file that cannot be opened now.
    matches!(code.parse::<u32>().map(|code| code & 0xff), Ok(5 | 6 | 13 | 14))
}
