//! Links that leave: the hook that removes those to hosts that are not listed, and those that carry private text.

mod around;
mod guarded;
mod hook;
mod links;
#[cfg(feature = "policy")]
mod options;
mod places;
mod private;
mod reader;
mod readings;
mod scan;
mod scheme;
mod thread;
mod words;

pub use hook::{EgressError, EgressGuard};
