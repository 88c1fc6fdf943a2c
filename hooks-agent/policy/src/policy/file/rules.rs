//! The rules and the quotas of a policy file, as the hooks that go by them.

use hooks_agent_core::hooks_core::HookOrder;
use hooks_agent_core::options::{Globs, Key, Node, Value};

use crate::policy::file::beside::add_vars;
use crate::policy::file::document::{Document, Problems};
use crate::policy::file::fields::Fields;
use crate::policy::file::hook_table::{HookTable, Starts};
use crate::policy::file::variables::resolve;

/// A hook whose options are keys of the file.
struct OfFile {
    uses: &'static str,
    keys: &'static [&'static str],
    /// Its option that names the file, under which it keeps what it counts.
    counter: &'static str,
    /// What stands between the parts of that.
    separator: &'static str,
    /// What its name ends with.
    end: &'static str,
}

const RULES: OfFile = OfFile {
    uses: HookTable::RULES,
    keys: &["rules", "vars", "rule"],
    counter: "counter",
    separator: ":",
    end: "",
};

const QUOTAS: OfFile = OfFile {
    uses: HookTable::QUOTAS,
    keys: &["quotas", "quota"],
    counter: "prefix",
    separator: "/",
    end: "/",
};

/// Returns the hook of the rules of a file, if it has any.
pub(super) fn of_rules(
    file: &Fields<'_>,
    document: &Document,
    problems: &mut Problems<'_>,
) -> Option<HookTable> {
    let mut entries = RULES.entries(file)?;
    add_vars(&mut entries, document, problems);
    Some(RULES.table(entries, document, problems))
}

/// Returns the hook of the quotas of a file, if it has any.
pub(super) fn of_quotas(
    file: &Fields<'_>,
    document: &Document,
    problems: &mut Problems<'_>,
) -> Option<HookTable> {
    Some(QUOTAS.table(QUOTAS.entries(file)?, document, problems))
}

impl OfFile {
    fn entries(&self, file: &Fields<'_>) -> Option<Vec<(Key, Node)>> {
        let own = file.entries.iter().filter(|(key, _)| self.keys.contains(&key.name.as_str()));
        let entries: Vec<_> = own.cloned().collect();
        (!entries.is_empty()).then_some(entries)
    }

    fn table(
        &self,
        mut entries: Vec<(Key, Node)>,
        document: &Document,
        problems: &mut Problems<'_>,
    ) -> HookTable {
        let span = entries.first().map_or(0..0, |(key, _)| key.span.clone());
        for (key, node) in &mut entries {
            resolve(node, &key.name, problems);
        }
        // What is counted is kept apart for each file, and outlives a move of it.
        let key = Key { name: self.counter.to_owned(), span: span.clone() };
        let Self { uses, separator, end, .. } = self;
        let raw = format!("{uses}{separator}{}{separator}{}{end}", document.layer, document.number);
        let counter = Value::Text { raw, resolved: None, is_secret: false };
        entries.push((key, Node { span: span.clone(), value: counter }));
        let at = span.start;
        HookTable {
            path: String::new(),
            starts: Starts { table: at, uses: at, name: at },
            uses: self.uses.to_owned(),
            name: format!("{} of {}", self.uses, document.file),
            agents: Globs::all(),
            priority: None,
            order: HookOrder::new(),
            is_parallel: None,
            inherits: None,
            is_enabled: true,
            is_shadow: false,
            options: Node { span, value: Value::Table(entries) },
        }
    }
}

impl HookTable {
    /// The name of the hook that goes by the rules of files.
    pub(crate) const RULES: &str = "rules";

    /// The name of the hook that goes by the quotas of files.
    pub(crate) const QUOTAS: &str = "quotas";

    /// Returns the array of tables that a hook of this name has in a file in place of a `[[hook]]`.
    pub(crate) fn array_of(uses: &str) -> Option<&'static str> {
        match uses {
            Self::RULES => Some("rule"),
            Self::QUOTAS => Some("quota"),
            _ => None,
        }
    }

    /// Returns the path of an option, such as `hook[0].with.kinds` or `rule[0].when`.
    pub(crate) fn path_of(&self, option: impl FnOnce(&str) -> String) -> String {
        match self.path.as_str() {
            "" => option("").trim_start_matches('.').to_owned(),
            path => option(&format!("{path}.with")),
        }
    }

    /// Returns whether its options are keys of the file.
    pub(crate) fn is_of_file(&self) -> bool {
        self.path.is_empty()
    }

    /// Returns whether it is a hook of this name whose options are keys of the file.
    pub(crate) fn is_of_file_for(&self, uses: &str) -> bool {
        self.is_of_file() && self.uses == uses
    }
}
