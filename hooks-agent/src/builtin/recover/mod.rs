//! Hooks that recover: retries, fallbacks, circuit breakers.
