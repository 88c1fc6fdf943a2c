//! Retry policies: the number of attempts, and the delays between them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::time::Duration;

use backon::{BackoffBuilder, ConstantBuilder, ExponentialBuilder};
use futures::future::select;

use hooks_agent_core::call::CallContext;
use hooks_agent_core::error::AgentError;

/// How often [`ModelRetry`](crate::recover::ModelRetry) and
/// [`ToolRetry`](crate::recover::ToolRetry) repeat a call, and after which delays.
///
/// The delay before retry *n*, from 0, is `initial_delay × factor^n`, at most `max_delay`. The
/// jitter then draws it from 75 % to 125 % of that, so that many clients of one provider do not
/// return at the same moment.
///
/// | setting | default |
/// |---|---|
/// | [`attempts`](Self::attempts) | 3: the first call and 2 retries |
/// | [`initial_delay`](Self::initial_delay) | 1 s |
/// | [`factor`](Self::factor) | 2 |
/// | [`max_delay`](Self::max_delay) | 60 s |
/// | [`jitter`](Self::jitter) | on |
///
/// ```
/// use std::time::Duration;
///
/// use hooks_agent::builtin::recover::RetryPolicy;
///
/// let policy = RetryPolicy::new().attempts(9);
/// let delays: Vec<_> = (0..8).map(|retry| policy.delay(retry).as_secs()).collect();
/// assert_eq!(delays, [1, 2, 4, 8, 16, 32, 60, 60]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct RetryPolicy {
    attempts: usize,
    initial_delay: Duration,
    factor: f32,
    max_delay: Duration,
    has_jitter: bool,
}

/// The error of a [`RetryPolicy`] that no hook can follow.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RetryPolicyError {
    /// No attempt is allowed.
    #[error("attempts must be >= 1")]
    NoAttempts,
    /// The factor is negative or not a number.
    #[error("backoff_factor must be >= 0")]
    Factor,
}

impl RetryPolicy {
    /// Creates the default policy.
    pub const fn new() -> Self {
        Self {
            attempts: 3,
            initial_delay: Duration::from_secs(1),
            factor: 2.0,
            max_delay: Duration::from_mins(1),
            has_jitter: true,
        }
    }

    /// Sets the number of calls, at least 1, the first one included.
    pub const fn attempts(mut self, attempts: usize) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets the number of retries after the first call. Equivalent to one more of
    /// [`attempts`](Self::attempts).
    pub const fn max_retries(self, retries: usize) -> Self {
        self.attempts(retries.saturating_add(1))
    }

    /// Sets the delay before the first retry.
    pub const fn initial_delay(mut self, delay: Duration) -> Self {
        self.initial_delay = delay;
        self
    }

    /// Sets the factor between two delays, at least 0. With 0, all delays are equal.
    pub const fn factor(mut self, factor: f32) -> Self {
        self.factor = factor;
        self
    }

    /// Sets the longest delay, before jitter.
    pub const fn max_delay(mut self, delay: Duration) -> Self {
        self.max_delay = delay;
        self
    }

    /// Sets whether delays are drawn from 75 % to 125 % of their value.
    pub const fn jitter(mut self, jitter: bool) -> Self {
        self.has_jitter = jitter;
        self
    }

    /// Returns the delay before this retry, from 0, without jitter.
    #[must_use]
    pub fn delay(&self, retry: usize) -> Duration {
        let first = self.initial_delay.min(self.max_delay);
        if self.factor == 0.0 || first.is_zero() {
            return first;
        }
        let delays = ExponentialBuilder::new()
            .with_min_delay(first)
            .with_factor(self.factor)
            .with_max_delay(self.max_delay)
            .without_max_times();
        // Later delays hardly differ, and any number of retries may be asked for.
        delays.build().nth(retry.min(1000)).unwrap_or(self.max_delay)
    }

    /// Returns the policy, if a hook can follow it.
    pub(super) fn check(self) -> Result<Self, RetryPolicyError> {
        match self {
            Self { attempts: 0, .. } => Err(RetryPolicyError::NoAttempts),
            Self { factor, .. } if factor.is_nan() || factor < 0.0 => Err(RetryPolicyError::Factor),
            policy => Ok(policy),
        }
    }

    /// Returns how long to wait after this many attempts, or `None` if there may be no further one:
    /// at least `asked`, the time that the provider asks for, and not at all if that is longer than
    /// any delay of the policy.
    pub(super) fn wait(&self, attempts: usize, asked: Option<Duration>) -> Option<Duration> {
        let asked = asked.unwrap_or_default();
        if attempts >= self.attempts || asked > self.max_delay {
            return None;
        }
        let delay = self.delay(attempts.saturating_sub(1));
        let delay = if self.has_jitter { jittered(delay) } else { delay };
        Some(delay.max(asked))
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self::new()
    }
}

/// Draws from 75 % to 125 % of a delay.
fn jittered(delay: Duration) -> Duration {
    let second = Duration::from_secs(1);
    let drawn = ConstantBuilder::new().with_delay(second).with_jitter().build().next();
    // From 0 up to 1.
    let part = drawn.unwrap_or(second).saturating_sub(second).as_secs_f64();
    Duration::try_from_secs_f64(delay.as_secs_f64() * (0.75 + part / 2.0)).unwrap_or(delay)
}

/// Waits between two attempts, or until the call is interrupted, which ends it.
pub(super) async fn pause(cx: &CallContext, wait: Duration) -> Result<(), AgentError> {
    if !wait.is_zero() {
        select(pin!(tokio::time::sleep(wait)), pin!(cx.interrupted())).await;
    }
    cx.checkpoint().await
}

/// Asks a closure of the program whether to repeat a call. A panic answers no.
pub(super) fn chooses<E>(choose: &dyn Fn(&E) -> bool, error: &E) -> bool {
    catch_unwind(AssertUnwindSafe(|| choose(error))).unwrap_or_else(|_| {
        tracing::error!(target: "hooks_agent::builtin::recover", "the closure that chooses the errors of a retry panicked");
        false
    })
}
