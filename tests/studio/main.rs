//! The server of the studio.

mod approvals;
mod bounds;
mod chat;
mod connections;
mod hooks;
mod hosts;
mod late_redaction;
mod questions;
mod redaction;
mod runs;
mod security;
mod stream;
mod sub_agents;
mod support;
