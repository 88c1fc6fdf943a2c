//! The values of a file with their places.

use std::fmt::{self, Write as _};
use std::ops::Range;

use sha2::{Digest, Sha256};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::policy::file::shown_key;

/// A value of a file. It has no `Debug`: it may have a value of `${env:..}`.
#[derive(Clone)]
pub(in crate::policy) struct Node {
    pub(in crate::policy) span: Range<usize>,
    pub(in crate::policy) value: Value,
}

#[derive(Clone)]
pub(in crate::policy) enum Value {
    Text {
        /// The text as it is in the file.
        raw: String,
        /// The text with the values of its `${env:..}`, if it has any.
        resolved: Option<String>,
        /// Whether the text has values of the environment.
        is_secret: bool,
    },
    Integer(i128),
    Float(f64),
    Boolean(bool),
    /// A date, a time, or a number that is too large.
    Other(&'static str),
    List(Vec<Node>),
    Table(Vec<(Key, Node)>),
    /// An element of an array that was [removed](Node::remove).
    Removed,
}

/// A key of a table with its place.
#[derive(Clone)]
pub(in crate::policy) struct Key {
    pub(in crate::policy) name: String,
    pub(in crate::policy) span: Range<usize>,
}

impl Node {
    /// Returns the entries of a table in the order of the file.
    pub(in crate::policy) fn entries_of(table: DeTable<'_>) -> Vec<(Key, Node)> {
        let mut entries: Vec<_> = table
            .into_iter()
            .map(|(key, value)| {
                let span = key.span();
                (Key { name: key.into_inner().into_owned(), span }, Node::of(value))
            })
            .collect();
        entries.sort_by_key(|(key, _)| key.span.start);
        entries
    }

    fn of(value: Spanned<DeValue<'_>>) -> Self {
        let span = value.span();
        let value = match value.into_inner() {
            DeValue::String(text) => {
                Value::Text { raw: text.into_owned(), resolved: None, is_secret: false }
            }
            DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix())
                .map_or(Value::Other("a number that is too large"), Value::Integer),
            DeValue::Float(number) => number
                .as_str()
                .parse()
                .map_or(Value::Other("a number that is too large"), Value::Float),
            DeValue::Boolean(it) => Value::Boolean(it),
            DeValue::Datetime(_) => Value::Other("a date"),
            DeValue::Array(list) => Value::List(list.into_iter().map(Self::of).collect()),
            DeValue::Table(table) => Value::Table(Self::entries_of(table)),
        };
        Self { span, value }
    }

    /// Returns an empty table at this place.
    pub(in crate::policy) fn empty_table(span: Range<usize>) -> Self {
        Self { span, value: Value::Table(Vec::new()) }
    }

    /// Returns the kind of the value, for errors.
    pub(in crate::policy) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Text { .. } => "a string",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number with a fraction",
            Value::Boolean(_) => "a boolean",
            Value::Other(kind) => kind,
            Value::List(_) => "an array",
            Value::Table(_) => "a table",
            Value::Removed => "nothing",
        }
    }

    /// Returns whether a text in it has values of the environment.
    pub(in crate::policy) fn has_secret(&self) -> bool {
        match &self.value {
            Value::Text { is_secret, .. } => *is_secret,
            Value::List(list) => list.iter().any(Self::has_secret),
            Value::Table(entries) => entries.iter().any(|(_, node)| node.has_secret()),
            _ => false,
        }
    }

    /// Removes the innermost value at this place. Returns the name of the key that is gone, which
    /// is empty for a value of an array.
    pub(in crate::policy) fn remove(&mut self, offset: usize) -> Option<String> {
        match &mut self.value {
            Value::List(list) => {
                if let Some(name) = list.iter_mut().find_map(|node| node.remove(offset)) {
                    return Some(name);
                }
                let is_there = |node: &&mut Self| node.span.start == offset && !node.is_removed();
                // The other elements keep their indices.
                list.iter_mut().find(is_there)?.value = Value::Removed;
                Some(String::new())
            }
            Value::Table(entries) => {
                let inner = entries.iter_mut().find_map(|(_, node)| node.remove(offset));
                if inner.is_some() {
                    return inner;
                }
                let is_there = |(key, node): &(Key, Node)| {
                    key.span.start == offset || node.span.start == offset
                };
                let index = entries.iter().position(is_there)?;
                Some(entries.remove(index).0.name)
            }
            _ => None,
        }
    }

    /// Returns whether it was removed from its array.
    pub(in crate::policy) fn is_removed(&self) -> bool {
        matches!(self.value, Value::Removed)
    }

    /// Returns the value at a path such as `patterns[0].pattern`.
    pub(in crate::policy) fn find(&self, path: &str) -> Option<&Self> {
        let mut steps = path.split(['.', '[']).map(|step| step.trim_end_matches(']'));
        steps.try_fold(self, |node, step| match &node.value {
            Value::List(list) => list.get(step.parse::<usize>().ok()?),
            Value::Table(entries) => {
                entries.iter().find(|(key, _)| key.name == step).map(|(_, node)| node)
            }
            _ => None,
        })
    }

    /// Adds the value to a digest, with the values of the environment.
    pub(in crate::policy) fn digest(&self, digest: &mut Sha256) {
        let mut add = |kind: u8, bytes: &[u8]| {
            digest.update([kind]);
            digest.update((bytes.len() as u64).to_le_bytes());
            digest.update(bytes);
        };
        match &self.value {
            Value::Text { raw, resolved, .. } => {
                add(0, resolved.as_deref().unwrap_or(raw).as_bytes());
            }
            Value::Integer(number) => add(1, &number.to_le_bytes()),
            Value::Float(number) => add(2, &number.to_bits().to_le_bytes()),
            Value::Boolean(it) => add(3, &[u8::from(*it)]),
            Value::Other(kind) => add(4, kind.as_bytes()),
            Value::Removed => add(7, &[]),
            Value::List(list) => {
                add(5, &(list.len() as u64).to_le_bytes());
                for node in list {
                    node.digest(digest);
                }
            }
            Value::Table(entries) => {
                add(6, &(entries.len() as u64).to_le_bytes());
                let mut sorted: Vec<_> = entries.iter().collect();
                sorted.sort_by(|one, other| one.0.name.cmp(&other.0.name));
                for (key, node) in sorted {
                    digest.update((key.name.len() as u64).to_le_bytes());
                    digest.update(key.name.as_bytes());
                    node.digest(digest);
                }
            }
        }
    }
}

/// Shows the value as the file has it, on one line: `${env:NAME}` stays what it is.
impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            // A string of JSON is one of TOML.
            Value::Text { raw, .. } => write!(f, "{}", serde_json::Value::from(raw.as_str())),
            Value::Integer(number) => write!(f, "{number}"),
            Value::Float(number) => write!(f, "{number}"),
            Value::Boolean(it) => write!(f, "{it}"),
            Value::Other(_) | Value::Removed => f.write_str(self.kind()),
            Value::List(list) => {
                f.write_char('[')?;
                for (index, node) in list.iter().enumerate() {
                    write!(f, "{}{node}", if index == 0 { "" } else { ", " })?;
                }
                f.write_char(']')
            }
            Value::Table(entries) => {
                f.write_char('{')?;
                for (index, (key, node)) in entries.iter().enumerate() {
                    let separator = if index == 0 { "" } else { "," };
                    write!(f, "{separator} {} = {node}", shown_key(&key.name))?;
                }
                f.write_str(if entries.is_empty() { "}" } else { " }" })
            }
        }
    }
}
