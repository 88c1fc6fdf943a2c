//! The errors of rate limits.

use std::fmt;
use std::time::Duration;

/// Why a rate limit cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RateLimitError {
    /// It limits nothing.
    #[error("the rate limit has no quota, set one of requests or tokens")]
    NoQuota,
    /// A quota is 0, or its period is 0 or longer than 366 days.
    #[error("a quota is at least 1 in a period of at most 366 days")]
    InvalidQuota,
    /// Tools use no tokens.
    #[error("a rate limit of tools has no quota of tokens")]
    TokensOfTools,
}

/// What a [`RateLimit`](crate::limit::RateLimit) counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RateUnit {
    /// Calls of a model or a tool.
    Requests,
    /// Tokens of requests and answers.
    Tokens,
}

/// The error of a call that a [`RateLimit`](crate::limit::RateLimit) refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateLimited {
    /// The quota that is used up.
    pub unit: RateUnit,
    /// The time after which the call may pass, if nobody else calls.
    pub retry_after: Duration,
}

impl fmt::Display for RateLimited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            RateUnit::Requests => "requests",
            RateUnit::Tokens => "tokens",
        };
        write!(f, "the rate limit of {unit} is reached, retry in {:?}", self.retry_after)
    }
}

impl std::error::Error for RateLimited {}
