//! The quotas by key.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::limit::rate_limit::bucket::Rate;
use crate::limit::rate_limit::clock::Clock;
use crate::limit::rate_limit::error::{RateLimited, RateUnit};
use crate::limit::rate_limit::quotas::Quotas;

/// The quotas by key, each in use or not whole. Clones of the hook share them.
#[derive(Debug)]
pub(super) struct Keys {
    pub(super) requests: Option<Rate>,
    pub(super) tokens: Option<Rate>,
    pub(super) clock: Clock,
    pub(super) most: usize,
    quotas: Mutex<HashMap<String, Arc<Quotas>>>,
}

impl Keys {
    pub(super) fn new(
        requests: Option<Rate>,
        tokens: Option<Rate>,
        clock: Clock,
        most: usize,
    ) -> Self {
        Self { requests, tokens, clock, most, quotas: Mutex::default() }
    }

    /// Returns the quotas of a key. If there are too many keys, drops those whose quotas are whole
    /// and not in use; refuses a new one if there are none of these.
    pub(super) fn quotas(&self, key: &str) -> Result<Arc<Quotas>, RateLimited> {
        let mut all = self.quotas.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(quotas) = all.get(key) {
            return Ok(quotas.clone());
        }
        if all.len() >= self.most {
            all.retain(|_, quotas| Arc::strong_count(quotas) > 1 || !quotas.are_whole());
        }
        if all.len() >= self.most {
            let rate = self.requests.or(self.tokens);
            let retry_after = rate.map(|rate| rate.each).unwrap_or_default();
            return Err(RateLimited { unit: RateUnit::Requests, retry_after });
        }
        let quotas = Arc::new(Quotas::new(self.requests, self.tokens, &self.clock));
        all.insert(key.to_owned(), quotas.clone());
        Ok(quotas)
    }

    pub(super) fn len(&self) -> usize {
        self.quotas.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}
