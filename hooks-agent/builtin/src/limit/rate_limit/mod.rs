//! A limit of requests and tokens in a time.
//! A permit is taken right before a call, so waiting for one takes nothing.

mod bucket;
mod builder;
mod clock;
mod error;
mod hook;
mod keys;
mod quotas;

pub use builder::RateLimitBuilder;
pub use error::{RateLimitError, RateLimited, RateUnit};
pub use hook::RateLimit;
