//! Guards that stay: a server that hooks ask, and those between an agent and its MCP servers or its model.

pub(super) mod mcp;
pub(super) mod proxy;
pub(super) mod serve;
mod stop;
