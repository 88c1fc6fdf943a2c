//! Token usage.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// The token usage of a call, as the provider reports it; zero if it does not, also for a field that
/// is absent in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// The number of tokens of the request.
    pub input_tokens: u64,
    /// The number of tokens of the answer.
    pub output_tokens: u64,
    /// How many tokens of the request the provider had in its cache.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_read_tokens: u64,
    /// How many tokens of the request the provider put into its cache.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_creation_tokens: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(tokens: &u64) -> bool {
    *tokens == 0
}

impl Usage {
    /// Creates a usage of this many tokens of the request and of the answer.
    #[must_use]
    pub const fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self { input_tokens, output_tokens, cache_read_tokens: 0, cache_creation_tokens: 0 }
    }

    /// Sets how many tokens of the request the provider had in its cache, and how many it put there.
    #[must_use]
    pub const fn cached(mut self, read: u64, created: u64) -> Self {
        self.cache_read_tokens = read;
        self.cache_creation_tokens = created;
        self
    }

    /// Returns the number of tokens of the request and the answer.
    #[must_use]
    pub const fn total_tokens(self) -> u64 {
        self.input_tokens + self.output_tokens
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cache_read_tokens += other.cache_read_tokens;
        self.cache_creation_tokens += other.cache_creation_tokens;
    }
}
