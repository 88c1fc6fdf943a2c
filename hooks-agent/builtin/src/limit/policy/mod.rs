//! The options of these hooks in policy files. Each is a table `with`, read by serde; a value that
//! is not one of its type, and a key that it does not have, are errors of the file.

mod at_limit;
mod budget;
mod loop_detection;
mod model_call_limit;
#[cfg(feature = "rate-limit")]
mod rate_limit;
mod tool_call_limit;
