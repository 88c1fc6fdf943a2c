//! The hosts, tools and the model that a program gives to its entries.

use hooks_agent_core::hook::HookModel;

use crate::command::http::Hosts;
use crate::command::mcp::Servers;

/// The hosts, tools and models that entries may use.
#[derive(Debug, Default)]
pub(crate) struct Resources {
    pub(crate) hosts: Hosts,
    pub(crate) servers: Servers,
    pub(crate) model: Option<HookModel>,
}
