//! The server of the page: who may ask, what it answers, and how it ends.

mod access;
mod acts;
mod answer;
mod app;
mod body;
mod entrance;
mod guard;
mod headers;
mod hosts;
mod listen;
mod routes;
mod stream;
mod studio_server;
mod token;

#[cfg(feature = "join")]
pub(super) use acts::{decide, interrupt, revoke};
pub(super) use hosts::Hosts;
pub(super) use listen::listen;
pub use studio_server::StudioServer;
pub(super) use token::Token;
