//! Links that leave: the hook that removes those to hosts that are not listed.

mod hook;
#[cfg(feature = "policy")]
mod options;
mod reader;
mod scan;

pub use hook::{EgressError, EgressGuard};
