//! The name of a server, and those of its tools for hooks.

use std::sync::OnceLock;

use serde_json::{Map, Value};

/// The name by which hooks know a server that has not said its own.
const UNNAMED: &str = "unnamed";

/// The name of a server: what the program says, else what the server says first.
#[derive(Debug, Default)]
pub(crate) struct ServerName(OnceLock<String>);

impl ServerName {
    /// Names the server, unless it has a name. Characters other than letters of ASCII, digits, `-` and `_`
    /// become `_`, as in the tool names of coding agents.
    pub(crate) fn set(&self, name: &str) {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_');
        let plain: String = name.chars().map(|it| if is_plain(it) { it } else { '_' }).collect();
        if !plain.is_empty() {
            self.0.get_or_init(|| plain);
        }
    }

    /// Takes the name that is in the result of a handshake.
    pub(crate) fn learn(&self, method: &str, result: &Map<String, Value>) {
        if !matches!(method, "initialize" | "server/discover") {
            return;
        }
        let of_meta = || result.get("_meta")?.get("io.modelcontextprotocol/serverInfo");
        let info = result.get("serverInfo").or_else(of_meta);
        if let Some(name) = info.and_then(|info| info.get("name")?.as_str()) {
            self.set(name);
        }
    }

    /// Returns whether the server has a name.
    pub(crate) fn is_known(&self) -> bool {
        self.0.get().is_some()
    }

    /// Returns the name of a tool, or of another method whose texts are read.
    pub(crate) fn of(&self, tool: &str) -> String {
        format!("mcp__{}__{tool}", self.0.get().map_or(UNNAMED, String::as_str))
    }
}
