//! The time of a rate limit.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// A clock that never goes backwards. Clones share it.
#[derive(Clone)]
pub(super) struct Clock {
    now: Arc<dyn Fn() -> Duration + Send + Sync>,
    /// The latest time, in nanoseconds.
    latest: Arc<AtomicU64>,
}

impl Clock {
    pub(super) fn new(now: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self { now: Arc::new(now), latest: Arc::default() }
    }

    /// Creates a clock of the time since now, which tests of tokio may pause.
    pub(super) fn since_now() -> Self {
        let start = Instant::now();
        Self::new(move || start.elapsed())
    }
}

impl governor::clock::Clock for Clock {
    type Instant = Duration;

    /// Returns the time. While the clock goes backwards, or panics, time stands still.
    fn now(&self) -> Duration {
        let now = catch_unwind(AssertUnwindSafe(|| (self.now)())).unwrap_or_default();
        let now = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX).min(u64::MAX / 4);
        let latest = self.latest.fetch_max(now, Ordering::AcqRel);
        Duration::from_nanos(latest.max(now))
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").finish_non_exhaustive()
    }
}
