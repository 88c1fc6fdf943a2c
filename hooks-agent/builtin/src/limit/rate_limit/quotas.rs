//! The quotas of one key.

use std::sync::{Mutex, PoisonError};

use tokio::sync::Semaphore;

use crate::limit::rate_limit::bucket::{Bucket, Rate};
use crate::limit::rate_limit::clock::Clock;
use crate::limit::rate_limit::error::{RateLimited, RateUnit};

/// The quotas of one key, and the queue of those that wait for them.
#[derive(Debug)]
pub(super) struct Quotas {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
    /// Makes a change of both one.
    both: Mutex<()>,
    /// The turn to wait: who holds it is first in line.
    pub(super) turn: Semaphore,
}

impl Quotas {
    pub(super) fn new(requests: Option<Rate>, tokens: Option<Rate>, clock: &Clock) -> Self {
        let bucket = |rate: Option<Rate>| rate.and_then(|rate| Bucket::new(rate, clock));
        let (requests, tokens) = (bucket(requests), bucket(tokens));
        Self { requests, tokens, both: Mutex::default(), turn: Semaphore::new(1) }
    }

    /// Takes a request and these tokens, or nothing.
    pub(super) fn take(&self, tokens: u64) -> Result<(), RateLimited> {
        let _both = self.both.lock().unwrap_or_else(PoisonError::into_inner);
        let limited = |unit| move |retry_after| RateLimited { unit, retry_after };
        if let Some(requests) = &self.requests {
            requests.take(1).map_err(limited(RateUnit::Requests))?;
        }
        let Some(bucket) = &self.tokens else { return Ok(()) };
        bucket.take(tokens).map_err(limited(RateUnit::Tokens)).inspect_err(|_| {
            if let Some(requests) = &self.requests {
                requests.give_back(1);
            }
        })
    }

    /// Corrects the tokens of a call from an estimate to those that it used.
    pub(super) fn correct(&self, estimated: u64, used: u64) {
        if let Some(bucket) = &self.tokens {
            bucket.owe(used.saturating_sub(estimated));
            bucket.give_back(estimated.saturating_sub(used));
        }
    }

    /// Returns whether all requests and tokens are there.
    pub(super) fn are_whole(&self) -> bool {
        [&self.requests, &self.tokens].into_iter().flatten().all(Bucket::is_whole)
    }
}
