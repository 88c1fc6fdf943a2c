//! The builder of `RateLimit`: quotas of requests and tokens, and their keys.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use crate::limit::rate_limit::bucket::Rate;
use crate::limit::rate_limit::clock::Clock;
use crate::limit::rate_limit::error::RateLimitError;
use crate::limit::rate_limit::hook::{KeyOf, RateLimit, Target};
use crate::limit::rate_limit::keys::Keys;
use hooks_agent_core::call::CallContext;

const LONGEST: Duration = Duration::from_hours(366 * 24);

/// Builds a [`RateLimit`].
#[must_use]
pub struct RateLimitBuilder {
    target: Target,
    only: Option<String>,
    key: Option<Arc<KeyOf>>,
    requests: Option<(u32, Duration)>,
    tokens: Option<(u32, Duration)>,
    wait: Option<Duration>,
    most_keys: usize,
    clock: Option<Clock>,
}

impl RateLimit {
    /// Starts a limit of model calls. A quota is required.
    pub fn of_models() -> RateLimitBuilder {
        RateLimitBuilder::new(Target::Models)
    }

    /// Starts a limit of tool calls. A quota of requests is required.
    pub fn of_tools() -> RateLimitBuilder {
        RateLimitBuilder::new(Target::Tools)
    }
}

impl RateLimitBuilder {
    fn new(target: Target) -> Self {
        Self {
            target,
            only: None,
            key: None,
            requests: None,
            tokens: None,
            wait: None,
            most_keys: 10_000,
            clock: None,
        }
    }

    /// Limits the model or the tool of this name, and no other.
    pub fn only(mut self, name: impl Into<String>) -> Self {
        self.only = Some(name.into());
        self
    }

    /// Sets a closure that returns whose quota a call uses, such as the user's, in place of one
    /// quota for each model or tool. A call for which it panics is refused.
    pub fn by(mut self, key: impl Fn(&CallContext) -> String + Send + Sync + 'static) -> Self {
        self.key = Some(Arc::new(key));
        self
    }

    /// Sets how many calls there may be in a period. As many may come at once; each comes back
    /// after its part of the period.
    pub fn requests(mut self, count: u32, period: Duration) -> Self {
        self.requests = Some((count, period));
        self
    }

    /// Sets how many tokens model calls may use in a period.
    pub fn tokens(mut self, count: u32, period: Duration) -> Self {
        self.tokens = Some((count, period));
        self
    }

    /// Waits for a permit for at most this long. If it takes longer, the call fails at once.
    /// Outside of a runtime of tokio, which must have time enabled, the call fails instead.
    pub fn wait(mut self, at_most: Duration) -> Self {
        self.wait = Some(at_most.min(LONGEST));
        self
    }

    /// Fails with the time to wait, which is the default.
    pub fn fail(mut self) -> Self {
        self.wait = None;
        self
    }

    /// Sets how many keys have quotas at once. The default is 10 000. Beyond that, keys whose quota
    /// is whole are dropped; if there are none, a new key is refused.
    pub fn most_keys(mut self, count: usize) -> Self {
        self.most_keys = count.max(1);
        self
    }

    /// Sets the clock: the time since any moment. The default is that of tokio.
    pub fn clock(mut self, now: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        self.clock = Some(Clock::new(now));
        self
    }

    /// Builds the hook.
    ///
    /// # Errors
    /// [`RateLimitError`].
    pub fn build(self) -> Result<RateLimit, RateLimitError> {
        let Self { target, only, key, requests, tokens, wait, most_keys, clock } = self;
        if requests.is_none() && tokens.is_none() {
            return Err(RateLimitError::NoQuota);
        }
        if target == Target::Tools && tokens.is_some() {
            return Err(RateLimitError::TokensOfTools);
        }
        let (requests, tokens) = (rate(requests)?, rate(tokens)?);
        let clock = clock.unwrap_or_else(Clock::since_now);
        let keys = Arc::new(Keys::new(requests, tokens, clock, most_keys));
        Ok(RateLimit { target, only, key, wait, keys })
    }
}

fn rate(quota: Option<(u32, Duration)>) -> Result<Option<Rate>, RateLimitError> {
    let Some((units, period)) = quota else { return Ok(None) };
    let units = NonZeroU32::new(units).ok_or(RateLimitError::InvalidQuota)?;
    if period.is_zero() || period > LONGEST {
        return Err(RateLimitError::InvalidQuota);
    }
    let each = period.as_nanos().div_ceil(u128::from(units.get()));
    let each = Duration::from_nanos(u64::try_from(each).unwrap_or(u64::MAX));
    Ok(Some(Rate { units, each }))
}

impl fmt::Debug for RateLimitBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimitBuilder")
            .field("target", &self.target)
            .field("only", &self.only)
            .field("requests", &self.requests)
            .field("tokens", &self.tokens)
            .field("wait", &self.wait)
            .finish_non_exhaustive()
    }
}
