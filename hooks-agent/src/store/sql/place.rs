//! Where a database is, as errors name it.

use std::fmt;
use std::sync::Arc;

use hooks_agent_core::store::StoreError;
use sqlx::Error;

use crate::store::sql::failure::{classified, describe, unavailable};

/// Where a database is: a file, or the host and the port of a server. It has neither the user nor the
/// password.
#[derive(Clone, Debug)]
pub(crate) struct Place(Arc<str>);

impl Place {
    pub(crate) fn new(place: impl Into<Arc<str>>) -> Self {
        Self(place.into())
    }

    /// Returns the error of a store for one of this database.
    pub(crate) fn error(&self, error: &Error) -> StoreError {
        log(self, error);
        classified(error, self.describe(error))
    }

    /// Returns the error of a store that cannot be reached now.
    pub(crate) fn unavailable(&self, why: &str) -> StoreError {
        unavailable(format!("{self}: {why}"))
    }

    /// Returns the error of a store that cannot be opened.
    pub(crate) fn refused(&self, reason: &str) -> StoreError {
        StoreError::Open { reason: format!("{self}: {reason}"), source: None }
    }

    /// Returns the error of opening this database: what does not pass by itself is refused.
    pub(crate) fn opening(&self, error: &Error) -> StoreError {
        match self.error(error) {
            StoreError::Failed(_) => self.refused(&describe(error)),
            other => other,
        }
    }

    fn describe(&self, error: &Error) -> String {
        format!("{self}: {}", describe(error))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Writes what the database says to a log that is off unless operators turn it on: it may quote what is
/// stored.
fn log(place: &Place, error: &Error) {
    tracing::trace!(target: "hooks_agent::store::database", %place, %error, "the database failed");
}
