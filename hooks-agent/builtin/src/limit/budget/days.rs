//! The sums of the current day, by key.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::limit::budget::spent::Spent;

const DAY: Duration = Duration::from_hours(24);

/// What the current day has spent, by key. Clones share it.
#[derive(Clone)]
pub(super) struct Days {
    clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
    today: Arc<Mutex<Today>>,
    /// How many keys have a sum of their own in a day. All others share one, so that the table stays
    /// small and nobody gets around a budget by new keys.
    pub(super) most_keys: usize,
}

#[derive(Default)]
struct Today {
    /// The latest day that the clock showed: it may jump backwards.
    day: u64,
    spent: HashMap<String, Spent>,
    others: Spent,
}

impl Days {
    pub(super) fn new(clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self { clock: Arc::new(clock), today: Arc::default(), most_keys: 100_000 }
    }

    pub(super) fn set_clock(&mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) {
        self.clock = Arc::new(clock);
    }

    /// Returns a number that clones share, and nothing else has.
    pub(super) fn address(&self) -> usize {
        Arc::as_ptr(&self.today).addr()
    }

    pub(super) fn spent(&self, key: &str) -> Spent {
        let today = self.today();
        let is_full = today.spent.len() >= self.most_keys;
        let own = today.spent.get(key).copied();
        own.unwrap_or(if is_full { today.others } else { Spent::default() })
    }

    /// Adds to the sum of a key. Returns the sum before and after.
    pub(super) fn add(&self, key: &str, more: Spent) -> (Spent, Spent) {
        let mut today = self.today();
        let is_own = today.spent.contains_key(key) || today.spent.len() < self.most_keys;
        let sum =
            if is_own { today.spent.entry(key.to_owned()).or_default() } else { &mut today.others };
        let before = *sum;
        sum.add(more);
        (before, *sum)
    }

    /// Returns the sums of today; those of an earlier day are discarded.
    fn today(&self) -> MutexGuard<'_, Today> {
        // A clock that panics shows no later day.
        let now = catch_unwind(AssertUnwindSafe(|| (self.clock)())).unwrap_or(UNIX_EPOCH);
        let day = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / DAY.as_secs();
        let mut today = self.today.lock().unwrap_or_else(PoisonError::into_inner);
        if day > today.day {
            *today = Today { day, ..Today::default() };
        }
        today
    }
}

/// The number of keys, and none of them.
impl fmt::Debug for Days {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self.today.lock().unwrap_or_else(PoisonError::into_inner).spent.len();
        f.debug_struct("Days").field("keys", &keys).finish_non_exhaustive()
    }
}
