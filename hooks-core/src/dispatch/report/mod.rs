//! Reports of what hooks did: to `tracing`, and as errors of their calls.

pub(crate) mod failure;
pub(crate) mod trace;
