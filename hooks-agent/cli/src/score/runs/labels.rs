//! Reads the labels of tools: which read, and which change something.

use std::collections::BTreeMap;

use hooks_agent_core::tool::Effect;
use serde::Deserialize;

/// The labels of tools, as their file has them. A tool in no list is untrusted, private and changes something.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Labels {
    /// Tools whose results outsiders write into.
    #[serde(default)]
    pub(super) untrusted: Vec<String>,
    /// Tools whose results are not public.
    #[serde(default)]
    pub(super) private: Vec<String>,
    /// Tools whose results are trusted and public, and that change nothing.
    #[serde(default)]
    pub(super) plain: Vec<String>,
    /// Tools that change something, with the arguments that say what, and where it goes.
    #[serde(default)]
    pub(super) sinks: BTreeMap<String, Sink>,
}

/// The arguments of a tool that changes something.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sink {
    /// Where something goes, or what is acted on.
    #[serde(default, rename = "destination")]
    _destination: Vec<String>,
    /// What is sent or stored.
    #[serde(default, rename = "content")]
    _content: Vec<String>,
}

impl Labels {
    /// Returns what a tool does.
    pub(super) fn effect(&self, tool: &str) -> Effect {
        let lists = [&self.untrusted, &self.private, &self.plain];
        let is_listed = lists.iter().any(|list| list.iter().any(|name| name == tool));
        if is_listed && !self.sinks.contains_key(tool) { Effect::Reads } else { Effect::Changes }
    }
}
