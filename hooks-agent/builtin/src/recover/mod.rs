//! Hooks that recover: retries, fallbacks, circuit breakers.

mod circuit_breaker;
mod model_fallback;
#[cfg(feature = "retry")]
mod model_retry;
#[cfg(feature = "policy")]
mod policy;
#[cfg(feature = "retry")]
mod retry_policy;
mod tool_emulator;
#[cfg(feature = "retry")]
mod tool_retry;

pub use circuit_breaker::{CircuitBreaker, CircuitChange, CircuitOpen, CircuitState};
pub use model_fallback::ModelFallback;
#[cfg(feature = "retry")]
pub use model_retry::ModelRetry;
#[cfg(feature = "retry")]
pub use retry_policy::{RetryPolicy, RetryPolicyError};
pub use tool_emulator::ToolEmulator;
#[cfg(feature = "retry")]
pub use tool_retry::{OnFailure, RetriesFailed, ToolRetry};
