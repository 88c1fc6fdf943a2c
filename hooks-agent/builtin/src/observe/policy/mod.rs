//! The options of these hooks in policy files. Each is a table `with`, read by serde; a value that
//! is not one of its type, and a key that it does not have, are errors of the file.

#[cfg(feature = "audit")]
mod audit_log;
mod jsonl_trace;
mod logging;
mod timing;
