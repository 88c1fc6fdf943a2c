//! The server of the page: who may ask, what it answers, and how it ends.

mod answer;
mod app;
mod entrance;
mod guard;
mod headers;
mod hosts;
mod routes;
mod stream;
mod studio_server;
mod token;

pub(super) use hosts::Hosts;
pub use studio_server::StudioServer;
pub(super) use token::Token;
