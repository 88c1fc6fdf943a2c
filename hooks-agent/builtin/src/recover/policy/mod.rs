//! The options of these hooks in policy files. Each is a table `with`, read by serde; a value that
//! is not one of its type, and a key that it does not have, are errors of the file.

#[cfg(feature = "retry")]
mod attempts;
mod circuit_breaker;
#[cfg(feature = "retry")]
mod model_retry;
#[cfg(feature = "retry")]
mod tool_retry;
