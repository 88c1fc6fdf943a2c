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
}

impl Usage {
    /// Creates a usage of this many tokens of the request and of the answer.
    #[must_use]
    pub const fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self { input_tokens, output_tokens }
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
    }
}
