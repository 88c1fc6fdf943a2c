//! How long an operation of a server may take.

use std::io::{self, ErrorKind};
use std::time::Duration;

use sqlx::Error;

use crate::store::sql::failure::NoAnswer;

/// How long an operation of a server may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit(Duration);

impl Limit {
    /// The shortest limit: PostgreSQL takes none of 0.
    const SHORTEST: Duration = Duration::from_millis(10);

    pub(crate) fn new(time: Duration) -> Self {
        Self(time.max(Self::SHORTEST))
    }

    #[cfg(feature = "postgres")]
    pub(crate) fn time(self) -> Duration {
        self.0
    }

    /// Returns the limit of the server, as text in milliseconds: a tenth shorter, so that its answer
    /// arrives in time.
    #[cfg(feature = "postgres")]
    pub(crate) fn of_server(self) -> String {
        let longest = i32::MAX.unsigned_abs().into();
        (self.0 * 9 / 10).as_millis().min(longest).to_string()
    }

    /// Runs an operation. A connection whose operation has no answer is closed by whoever lent it.
    pub(crate) async fn run<T>(
        self,
        operation: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        match tokio::time::timeout(self.0, operation).await {
            Ok(done) => done,
            Err(_) => Err(Error::Io(io::Error::new(ErrorKind::TimedOut, NoAnswer(self.0)))),
        }
    }
}
