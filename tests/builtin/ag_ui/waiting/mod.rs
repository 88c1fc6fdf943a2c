//! What waits: for people, and for the client.

pub(crate) mod approvals;
mod frontend_tools;
mod gates;
