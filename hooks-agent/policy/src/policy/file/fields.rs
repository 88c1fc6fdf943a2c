//! The fields of a table, each of an expected type.

use std::fmt::Write as _;
use std::ops::Range;

use hooks_agent_core::options::{Key, Node, Value, list_of, shown_key};

use crate::policy::file::document::Problems;

/// The fields of a table. Each method reports what is not as expected, and returns `None` for it.
pub(crate) struct Fields<'a> {
    /// The keys down to the table, such as `hook[0]`.
    pub(crate) path: String,
    pub(crate) span: Range<usize>,
    pub(super) entries: &'a [(Key, Node)],
}

impl<'a> Fields<'a> {
    /// Takes a table with these keys, and reports all others.
    pub(crate) fn new(
        path: String,
        span: Range<usize>,
        entries: &'a [(Key, Node)],
        known: &[&str],
        problems: &mut Problems<'_>,
    ) -> Self {
        let fields = Self { path, span, entries };
        for (key, _) in entries.iter().filter(|(key, _)| !known.contains(&key.name.as_str())) {
            let message = list_of("key", Some(&key.name), known.iter().copied());
            problems.add(key.span.start, fields.path_of(&shown_key(&key.name)), message);
        }
        fields
    }

    /// Reads the key `mode`: whether it says `shadow`.
    pub(super) fn is_shadow(&self, problems: &mut Problems<'_>) -> bool {
        let Some((text, node)) = self.text("mode", problems) else { return false };
        if !["enforce", "shadow"].contains(&text) {
            let message = list_of("value", Some(text), ["enforce", "shadow"]);
            problems.add(node.span.start, self.path_of("mode"), message);
        }
        text == "shadow"
    }

    /// Takes the tables of an array such as `[[hook]]`.
    pub(crate) fn tables(
        &self,
        name: &str,
        known: &[&str],
        problems: &mut Problems<'_>,
    ) -> Vec<Fields<'a>> {
        let Some(node) = self.get(name) else { return Vec::new() };
        let Value::List(list) = &node.value else {
            self.expected(name, node, &format!("tables: write `[[{name}]]`"), problems);
            return Vec::new();
        };
        let mut tables = Vec::new();
        for (index, node) in list.iter().enumerate() {
            let path = format!("{}[{index}]", self.path_of(name));
            match &node.value {
                Value::Table(entries) => {
                    tables.push(Fields::new(path, node.span.clone(), entries, known, problems));
                }
                _ => problems.add(node.span.start, path, expected("a table", node)),
            }
        }
        tables
    }

    /// Takes a table such as `[limits]`.
    pub(crate) fn table(
        &self,
        name: &str,
        known: &[&str],
        problems: &mut Problems<'_>,
    ) -> Option<Fields<'a>> {
        let node = self.get(name)?;
        let Value::Table(entries) = &node.value else {
            self.expected(name, node, &format!("a table: write `[{name}]`"), problems);
            return None;
        };
        Some(Fields::new(self.path_of(name), node.span.clone(), entries, known, problems))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'a Node> {
        self.entries.iter().find(|(key, _)| key.name == name).map(|(_, node)| node)
    }

    /// Returns the path of a field, such as `hook[0].use`.
    pub(crate) fn path_of(&self, name: &str) -> String {
        match self.path.as_str() {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        }
    }

    /// Returns a text with its place.
    pub(crate) fn text(
        &self,
        name: &str,
        problems: &mut Problems<'_>,
    ) -> Option<(&'a str, &'a Node)> {
        let node = self.get(name)?;
        Some((text_of(node, &self.path_of(name), problems)?, node))
    }

    /// Returns the texts of an array with their places.
    pub(crate) fn texts(
        &self,
        name: &str,
        problems: &mut Problems<'_>,
    ) -> Option<Vec<(&'a str, &'a Node)>> {
        let node = self.get(name)?;
        let Value::List(list) = &node.value else {
            let mut message = expected("an array of strings", node);
            if let Value::Text { raw, .. } = &node.value
                && !raw.contains("${")
            {
                let _ = write!(message, "; write `{name} = [{raw:?}]`");
            }
            problems.add(node.span.start, self.path_of(name), message);
            return None;
        };
        let path = self.path_of(name);
        let texts = list.iter().enumerate().map(|(index, node)| {
            text_of(node, &format!("{path}[{index}]"), problems).map(|text| (text, node))
        });
        // Reports each of them.
        let texts: Vec<_> = texts.collect();
        texts.into_iter().collect()
    }

    pub(crate) fn boolean(&self, name: &str, problems: &mut Problems<'_>) -> Option<bool> {
        let node = self.get(name)?;
        match &node.value {
            Value::Boolean(it) => Some(*it),
            _ => {
                self.expected(name, node, "`true` or `false`", problems);
                None
            }
        }
    }

    /// Returns a whole number.
    pub(crate) fn number<N: TryFrom<i128>>(
        &self,
        name: &str,
        what: &str,
        problems: &mut Problems<'_>,
    ) -> Option<N> {
        let node = self.get(name)?;
        let number = match &node.value {
            Value::Integer(number) => N::try_from(*number).ok(),
            _ => None,
        };
        if number.is_none() {
            let found = match &node.value {
                Value::Integer(number) => format!("expected {what}, found {number}"),
                _ => expected(what, node),
            };
            problems.add(node.span.start, self.path_of(name), found);
        }
        number
    }

    /// Reports that a field is missing.
    pub(crate) fn missing(&self, name: &str, example: &str, problems: &mut Problems<'_>) {
        let message = format!("missing key `{name}`; write `{example}`");
        problems.add(self.span.start, self.path.clone(), message);
    }

    fn expected(&self, name: &str, node: &Node, what: &str, problems: &mut Problems<'_>) {
        problems.add(node.span.start, self.path_of(name), expected(what, node));
    }
}

fn expected(what: &str, node: &Node) -> String {
    format!("expected {what}, found {}", node.kind())
}

/// Returns a text that may be printed.
fn text_of<'a>(node: &'a Node, path: &str, problems: &mut Problems<'_>) -> Option<&'a str> {
    let Value::Text { raw, .. } = &node.value else {
        problems.add(node.span.start, path, expected("a string", node));
        return None;
    };
    if raw.contains("${") {
        let message = "`${..}` is taken in `with` and in `env` of a command alone, because the \
                       rest is printed";
        problems.add(node.span.start, path, message);
        return None;
    }
    Some(raw)
}
