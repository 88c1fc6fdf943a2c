//! Built-in hooks that recover: retries, fallbacks, circuit breakers.
