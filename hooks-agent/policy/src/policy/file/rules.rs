//! The rules of a policy file, as the hook that goes by them.

use hooks_agent_core::options::{Globs, Key, Node, Value};

use crate::policy::file::beside::add_vars;
use crate::policy::file::document::{Document, Problems};
use crate::policy::file::fields::Fields;
use crate::policy::file::hook_table::{HookTable, Starts};
use crate::policy::file::variables::resolve;

/// The keys of a file that are options of the hook `rules`.
const RULE_KEYS: [&str; 3] = ["rules", "vars", "rule"];

/// Returns the hook of the rules of a file, if it has any.
pub(super) fn of_rules(
    file: &Fields<'_>,
    document: &Document,
    problems: &mut Problems<'_>,
) -> Option<HookTable> {
    let own = file.entries.iter().filter(|(key, _)| RULE_KEYS.contains(&key.name.as_str()));
    let mut entries: Vec<_> = own.cloned().collect();
    let span = entries.first().map(|(key, _)| key.span.clone())?;
    add_vars(&mut entries, document, problems);
    for (key, node) in &mut entries {
        resolve(node, &key.name, problems);
    }
    let name = format!("{} of {}", HookTable::RULES, document.file);
    // What ran is kept apart for each file, and outlives a move of it.
    let key = Key { name: "counter".to_owned(), span: span.clone() };
    let raw = format!("{}:{}:{}", HookTable::RULES, document.layer, document.number);
    let counter = Value::Text { raw, resolved: None, is_secret: false };
    entries.push((key, Node { span: span.clone(), value: counter }));
    let at = span.start;
    Some(HookTable {
        path: String::new(),
        starts: Starts { table: at, uses: at, name: at },
        uses: HookTable::RULES.to_owned(),
        name,
        agents: Globs::all(),
        priority: None,
        inherits: None,
        is_enabled: true,
        options: Node { span, value: Value::Table(entries) },
    })
}

impl HookTable {
    /// The name of the hook that goes by the rules of files.
    pub(crate) const RULES: &str = "rules";

    /// Returns the path of an option, such as `hook[0].with.kinds` or `rule[0].when`.
    pub(crate) fn path_of(&self, option: impl FnOnce(&str) -> String) -> String {
        match self.path.as_str() {
            "" => option("").trim_start_matches('.').to_owned(),
            path => option(&format!("{path}.with")),
        }
    }

    /// Returns whether it is the hook of the rules of a file.
    pub(crate) fn is_rules(&self) -> bool {
        self.path.is_empty()
    }
}
