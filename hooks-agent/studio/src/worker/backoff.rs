//! The pause of a worker after a failure.

use std::time::Duration;

use crate::worker::client::Failed;

const FIRST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(30);

/// How long a worker waits after failures, one after the other.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }

    /// Returns how long it is waited after one more failure: twice as long, and not for all workers the same time.
    pub(super) fn next(&mut self, failed: &Failed) -> Duration {
        if matches!(failed, Failed::Key) {
            return LONGEST;
        }
        let longest = FIRST.saturating_mul(1 << self.failures.min(8)).min(LONGEST);
        self.failures += 1;
        let part = f64::from(getrandom::u32().unwrap_or_default()) / f64::from(u32::MAX);
        longest.mul_f64(0.5 + part / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Backoff, FIRST, LONGEST};
    use crate::worker::client::Failed;

    #[test]
    fn it_grows_up_to_half_a_minute() {
        let (mut backoff, failed) = (Backoff::default(), Failed::Lost(String::new()));
        let first = backoff.next(&failed);
        assert!(first >= FIRST / 2 && first <= FIRST, "{first:?}");
        for _ in 0..40 {
            assert!(backoff.next(&failed) <= LONGEST);
        }
        assert!(backoff.next(&failed) >= LONGEST / 2);
        backoff.reset();
        assert!(backoff.next(&failed) <= FIRST);
        assert_eq!(backoff.next(&Failed::Key), LONGEST);
    }
}
