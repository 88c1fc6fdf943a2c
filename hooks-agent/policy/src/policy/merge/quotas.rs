//! The quotas of the merged files.

use std::fmt;

use hooks_agent_core::options::{Node, Value};

use crate::command::Layer;
use crate::policy::error::Place;
use crate::policy::file::HookTable;
use crate::policy::merge::origin::Origin;
use crate::policy::merge::said::File;
use crate::policy::merge::values::{shown, text};

/// The keys that are part of the first line.
const FIRST: [&str; 6] = ["name", "over", "argument", "most", "within", "per"];

/// A quota of the merged files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedQuota {
    name: String,
    /// What may be used, such as `20 tool_calls in day, per user`.
    limit: String,
    /// The other keys with their values, as the file has them.
    settings: Vec<(String, String)>,
    is_shadow: bool,
    origin: Origin,
}

impl MergedQuota {
    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what may be used, such as `20 tool_calls in day, per user`.
    #[must_use]
    pub fn limit(&self) -> &str {
        &self.limit
    }

    /// Returns the layer of its file.
    #[must_use]
    pub fn layer(&self) -> Layer {
        self.origin.layer
    }

    /// Returns where it stands.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.origin.place
    }
}

/// Returns the quotas of a file.
pub(super) fn quotas_of(table: &HookTable, file: &File<'_>) -> Vec<MergedQuota> {
    let list = match table.options.find("quota").map(|node| &node.value) {
        Some(Value::List(list)) => list.as_slice(),
        _ => &[],
    };
    let quota = |node| quota(node, table.is_shadow, file.origin(node.span.start));
    list.iter().filter_map(quota).collect()
}

fn quota(node: &Node, is_shadow: bool, origin: Origin) -> Option<MergedQuota> {
    let Value::Table(entries) = &node.value else { return None };
    let get = |name: &str| node.find(name).map(text);
    let others = entries.iter().filter(|(key, _)| !FIRST.contains(&key.name.as_str()));
    let [over, most, within] = ["over", "most", "within"].map(|name| get(name).unwrap_or_default());
    let over = get("argument").unwrap_or(over);
    let per = get("per").map(|per| format!(", per {per}")).unwrap_or_default();
    Some(MergedQuota {
        name: get("name").unwrap_or_default(),
        limit: format!("{most} {over} in {within}{per}"),
        settings: others.map(|(key, node)| (key.name.clone(), shown(node))).collect(),
        is_shadow,
        origin,
    })
}

/// Shows the quota in one line, and its settings in further lines.
impl fmt::Display for MergedQuota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, limit, settings, is_shadow, origin } = self;
        let shadow = if *is_shadow { ", in shadow" } else { "" };
        writeln!(f, "  {}: {}, {origin}{shadow}", name.escape_debug(), limit.escape_debug())?;
        for (key, value) in settings {
            writeln!(f, "        {key} = {value}")?;
        }
        Ok(())
    }
}
