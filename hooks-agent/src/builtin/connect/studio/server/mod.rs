//! The server of the page: who may ask, what it answers, and how it ends.

mod answer;
mod guard;
mod headers;
mod hosts;
mod routes;
mod server;
mod stream;
mod token;

pub(super) use hosts::Hosts;
pub use server::StudioServer;
pub(super) use token::Token;
