//! Settings of retries in policy files.

use hooks_agent_core::options::{OptionDuration, set};

use crate::recover::retry_policy::RetryPolicy;

/// The settings that both kinds of retries have.
pub(super) struct Attempts {
    pub(super) attempts: Option<usize>,
    pub(super) initial_delay: Option<OptionDuration>,
    pub(super) factor: Option<f32>,
    pub(super) max_delay: Option<OptionDuration>,
    pub(super) jitter: Option<bool>,
}

impl Attempts {
    pub(super) fn policy(self) -> RetryPolicy {
        let policy = set(RetryPolicy::new(), self.attempts, RetryPolicy::attempts);
        let policy = set(policy, self.initial_delay, |policy, it| policy.initial_delay(it.0));
        let policy = set(policy, self.factor, RetryPolicy::factor);
        let policy = set(policy, self.max_delay, |policy, it| policy.max_delay(it.0));
        set(policy, self.jitter, RetryPolicy::jitter)
    }
}
