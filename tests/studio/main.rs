//! The server of the studio.

mod access;
mod approvals;
mod attempts;
mod bounds;
mod chat;
mod connections;
#[rustfmt::skip]
#[expect(clippy::unreadable_literal, reason = "as the studio writes it")]
mod exported;
mod exports;
mod failing_history;
mod history;
mod hooks;
mod hosts;
mod join;
mod late_redaction;
mod overview;
mod questions;
mod redaction;
mod runs;
mod security;
mod stream;
mod sub_agents;
mod support;
mod tapes;
mod threads;
