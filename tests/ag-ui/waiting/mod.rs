//! Runs that wait: for people, and for the client.

pub(crate) mod approvals;
pub(crate) mod deep;
mod frontend_tools;
mod gates;
mod reload;
