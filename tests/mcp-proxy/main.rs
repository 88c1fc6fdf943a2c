//! The promises of the MCP proxy.

mod answers;
mod calls;
mod endpoint;
mod http;
mod laws;
mod lines;
mod program;
mod second_opinion;
mod sides;
