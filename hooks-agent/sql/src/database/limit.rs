//! Time limits of operations.

use std::time::Duration;

use crate::database::error::DatabaseError;

/// How long an operation of a server may take. One of a file has [no limit](Self::none): it waits as long
/// as its connection says.
#[derive(Clone, Copy, Debug)]
pub struct Limit(Option<Duration>);

impl Limit {
    /// The shortest limit: PostgreSQL takes none of 0.
    const SHORTEST: Duration = Duration::from_millis(10);

    /// Returns a limit, of 10 milliseconds at least.
    #[must_use]
    pub fn new(time: Duration) -> Self {
        Self(Some(time.max(Self::SHORTEST)))
    }

    /// Returns no limit.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    /// Returns the time, if there is a limit.
    #[must_use]
    pub fn time(self) -> Option<Duration> {
        self.0
    }

    /// Returns the limit of the server, as text in milliseconds: a tenth shorter, so that its answer
    /// arrives in time.
    #[cfg(feature = "postgres")]
    pub(crate) fn of_server(self) -> Option<String> {
        let longest = i32::MAX.unsigned_abs().into();
        self.0.map(|time| (time * 9 / 10).as_millis().min(longest).to_string())
    }

    /// Runs an operation. A connection whose operation has no answer is closed by whoever lent it.
    ///
    /// # Errors
    /// That of the operation; [`Unavailable`](crate::database::DatabaseErrorKind::Unavailable) if it takes
    /// longer.
    pub async fn run<T>(
        self,
        operation: impl Future<Output = Result<T, DatabaseError>>,
    ) -> Result<T, DatabaseError> {
        let Some(time) = self.0 else { return operation.await };
        match tokio::time::timeout(time, operation).await {
            Ok(done) => done,
            Err(_) => Err(DatabaseError::no_answer(time)),
        }
    }
}
