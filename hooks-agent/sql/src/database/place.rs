//! Where a database is, as errors name it.

use std::fmt;
use std::sync::Arc;

use crate::database::error::{DatabaseError, DatabaseErrorKind};

/// Where a database is: a file, or the host and the port of a server. It has neither the user nor the
/// password.
#[derive(Clone, Debug)]
pub struct Place(Arc<str>);

impl Place {
    /// Returns the place of this name.
    pub fn new(place: impl Into<Arc<str>>) -> Self {
        Self(place.into())
    }

    /// Returns the error with this place before its text.
    #[must_use]
    pub fn error(&self, error: DatabaseError) -> DatabaseError {
        tracing::trace!(target: "hooks_agent::store::database", place = %self, %error, "the database failed");
        error.before(&format!("{self}: "))
    }

    /// Returns the error of opening this database: what does not pass by itself is refused.
    #[must_use]
    pub fn opening(&self, error: DatabaseError) -> DatabaseError {
        let error = self.error(error);
        match error.kind() {
            DatabaseErrorKind::Failed => DatabaseError::refused(error.to_string()),
            _ => error,
        }
    }

    /// Returns the error of this database that cannot be reached now.
    #[must_use]
    pub fn unavailable(&self, why: &str) -> DatabaseError {
        DatabaseError::unavailable(format!("{self}: {why}"))
    }

    /// Returns the error of this database that cannot be opened.
    #[must_use]
    pub fn refused(&self, reason: &str) -> DatabaseError {
        DatabaseError::refused(format!("{self}: {reason}"))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
