//! Links that leave: the hook that removes those to hosts that are not listed.

mod around;
mod hook;
#[cfg(feature = "policy")]
mod options;
mod places;
mod reader;
mod scan;
mod scheme;

pub use hook::{EgressError, EgressGuard};
