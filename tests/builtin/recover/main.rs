//! Built-in hooks that recover: retries, fallbacks, circuit breakers.

mod around;
mod circuit_breaker;
mod empty_chunks;
mod model_fallback;
mod model_retry;
mod tool_emulator;
mod tool_retry;
