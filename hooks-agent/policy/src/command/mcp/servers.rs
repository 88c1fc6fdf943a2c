//! The servers whose tools may be called.

use std::collections::BTreeMap;
use std::sync::Arc;

use hooks_agent_core::tool::{Tool, Tools};

/// The tools of servers, as a program gave them.
#[derive(Debug, Default)]
pub(crate) struct Servers(BTreeMap<String, Tools>);

impl Servers {
    /// Adds tools of a server.
    pub(crate) fn add(&mut self, server: String, tools: impl IntoIterator<Item = Arc<dyn Tool>>) {
        self.0.entry(server).or_default().extend(tools);
    }

    /// Returns a tool, or the field that names it and what is wrong there.
    pub(super) fn tool(
        &self,
        server: &str,
        tool: &str,
    ) -> Result<Arc<dyn Tool>, (&'static str, String)> {
        let Some(tools) = self.0.get(server) else {
            let message = format!(
                "the program gave no server {server:?}, call `mcp_server({server:?}, tools)` of the \
                 builder"
            );
            return Err(("server", message));
        };
        let found = tools.iter().find(|it| it.name() == tool).cloned();
        found.ok_or_else(|| {
            let names: Vec<_> = tools.iter().map(|it| format!("`{}`", it.name())).collect();
            let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            ("tool", format!("the server {server:?} has no tool {tool:?}, its tools are: {names}"))
        })
    }
}
