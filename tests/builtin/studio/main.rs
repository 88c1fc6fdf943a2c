//! The server of the studio.

mod approvals;
mod hooks;
mod redaction;
mod runs;
mod security;
mod stream;
mod support;
