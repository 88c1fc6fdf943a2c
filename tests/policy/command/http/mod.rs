//! Servers as hooks.

mod answers;
mod opening;
mod requests;
mod server;
mod settings;
