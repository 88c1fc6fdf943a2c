//! The rules of the merged files.

use std::fmt;

use hooks_agent_core::options::{Node, Value};

use crate::command::Layer;
use crate::policy::error::Place;
use crate::policy::file::HookTable;
use crate::policy::merge::origin::Origin;
use crate::policy::merge::said::File;
use crate::policy::merge::values::{shown, text};

/// A rule of the merged files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedRule {
    name: String,
    then: String,
    is_shadow: bool,
    /// The other keys with their values, as the file has them.
    settings: Vec<(String, String)>,
    is_dodged: bool,
    origin: Origin,
}

impl MergedRule {
    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what it decides, such as `deny`.
    #[must_use]
    pub fn then(&self) -> &str {
        &self.then
    }

    /// Returns whether it is tried without being enforced.
    #[must_use]
    pub fn is_shadow(&self) -> bool {
        self.is_shadow
    }

    /// Returns a warning, if there is something that its author may not mean.
    #[must_use]
    pub fn warning(&self) -> Option<&'static str> {
        self.is_dodged.then_some(
            "a call without a user has no roles, so the rule does not hold for it; `not_roles` names those for \
             whom it does not",
        )
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

/// Returns the rules of a file, and what holds for tool calls that none speaks of.
pub(super) fn rules_of(
    table: &HookTable,
    file: &File<'_>,
) -> (Vec<MergedRule>, Option<(String, Origin)>) {
    let list = match table.options.find("rule").map(|node| &node.value) {
        Some(Value::List(list)) => list.as_slice(),
        _ => &[],
    };
    let rules = list.iter().filter_map(|node| {
        let rule = rule(node, file.origin(node.span.start))?;
        Some(MergedRule { is_shadow: rule.is_shadow || table.is_shadow, ..rule })
    });
    let rules = rules.collect();
    let default = table.options.find("rules.default");
    (rules, default.map(|node| (text(node), file.origin(node.span.start))))
}

fn rule(node: &Node, origin: Origin) -> Option<MergedRule> {
    let Value::Table(entries) = &node.value else { return None };
    let get = |name: &str| node.find(name).map(text).unwrap_or_default();
    let others = entries.iter().filter(|(key, _)| !["name", "then"].contains(&key.name.as_str()));
    let settings = others.map(|(key, node)| (key.name.clone(), shown(node)));
    let (then, roles) = (get("then"), node.find("users.roles"));
    Some(MergedRule {
        name: get("name"),
        is_shadow: get("mode") == "shadow",
        settings: settings.collect(),
        is_dodged: roles.is_some() && then != "allow",
        then,
        origin,
    })
}

/// Shows the rule in one line, and its settings in further lines.
impl fmt::Display for MergedRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, then, is_shadow, settings, origin, .. } = self;
        let shadow = if *is_shadow { ", in shadow" } else { "" };
        writeln!(f, "  {then:<5} {}, {origin}{shadow}", name.escape_debug())?;
        for (key, value) in settings {
            writeln!(f, "        {key} = {value}")?;
        }
        match self.warning() {
            Some(warning) => writeln!(f, "        warning: {warning}"),
            None => Ok(()),
        }
    }
}
