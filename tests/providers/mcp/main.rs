//! Tools of servers that speak the Model Context Protocol, with a server that others wrote.

mod effects;
mod everything;
mod fake;
mod http;
mod pins;
mod process;
mod tools;
