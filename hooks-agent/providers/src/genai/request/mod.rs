//! Converts a request for the crate. What the crate would drop or cannot express was refused by
//! the provider before.

mod media;
mod messages;
mod options;

pub(super) use options::{wire_options, wire_request};
