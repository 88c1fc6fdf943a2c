//! The server of the studio.

mod approvals;
mod runs;
mod support;
