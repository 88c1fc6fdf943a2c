//! One quota.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use governor::clock::Clock as _;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::{NotKeyed, StateStore};
use governor::{Quota, RateLimiter};

use crate::limit::rate_limit::clock::Clock;

/// The latest time at which a debt may end, so that sums do not overflow.
const LATEST: u64 = u64::MAX / 4;

/// How many units there are in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate {
    pub(super) units: NonZeroU32,
    /// How long one unit takes to come back, rounded up.
    pub(super) each: Duration,
}

/// When the quota is whole again, in nanoseconds since its start: the state of the algorithm.
#[derive(Clone, Debug, Default)]
struct Whole(Arc<Mutex<Option<u64>>>);

impl Whole {
    fn lock(&self) -> MutexGuard<'_, Option<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StateStore for Whole {
    type Key = NotKeyed;

    fn measure_and_replace<T, F, E>(&self, _: &NotKeyed, change: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let mut whole = self.lock();
        let (outcome, next) = change(whole.map(Nanos::new))?;
        *whole = Some(next.as_u64().min(LATEST));
        Ok(outcome)
    }
}

/// A quota that units are taken from and come back to with time.
#[derive(Debug)]
pub(super) struct Bucket {
    rate: Rate,
    whole: Whole,
    start: Duration,
    limiter: RateLimiter<NotKeyed, Whole, Clock, NoOpMiddleware<Duration>>,
}

impl Bucket {
    pub(super) fn new(rate: Rate, clock: &Clock) -> Option<Self> {
        let quota = Quota::with_period(rate.each)?.allow_burst(rate.units);
        let (whole, start) = (Whole::default(), clock.now());
        let limiter = RateLimiter::new(quota, whole.clone(), clock.clone());
        Some(Self { rate, whole, start, limiter })
    }

    /// Takes units, or returns how long it takes until there are as many. More units than there
    /// ever are take all of them, and the rest becomes a debt.
    pub(super) fn take(&self, units: u64) -> Result<(), Duration> {
        let most = u64::from(self.rate.units.get());
        let now = u32::try_from(units.min(most)).ok().and_then(NonZeroU32::new);
        let Some(now) = now else { return Ok(()) };
        match self.limiter.check_n(now) {
            Ok(Ok(())) => {
                self.owe(units.saturating_sub(most));
                Ok(())
            }
            Ok(Err(until)) => Err(until.wait_time_from(self.limiter.clock().now())),
            // There are never as many.
            Err(_) => Err(self.rate.each.saturating_mul(now.get())),
        }
    }

    /// Takes units that are used already, also if there are not as many.
    pub(super) fn owe(&self, units: u64) {
        if units > 0 {
            let now = self.now();
            let mut whole = self.whole.lock();
            let since = whole.unwrap_or(now).max(now);
            *whole = Some(since.saturating_add(self.time_of(units)).min(LATEST));
        }
    }

    /// Gives units back.
    pub(super) fn give_back(&self, units: u64) {
        let mut whole = self.whole.lock();
        *whole = whole.map(|whole| whole.saturating_sub(self.time_of(units)));
    }

    /// Returns whether all units are there, so that a new quota is no different.
    pub(super) fn is_whole(&self) -> bool {
        let now = self.now();
        self.whole.lock().is_none_or(|whole| whole <= now)
    }

    fn time_of(&self, units: u64) -> u64 {
        let each = u64::try_from(self.rate.each.as_nanos()).unwrap_or(u64::MAX);
        each.saturating_mul(units)
    }

    /// Returns the nanoseconds since the start of the quota.
    fn now(&self) -> u64 {
        let since = self.limiter.clock().now().saturating_sub(self.start);
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }
}
