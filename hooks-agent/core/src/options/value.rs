//! The values of a file with their places.

use std::fmt::{self, Write as _};
use std::ops::Range;

use sha2::{Digest, Sha256};

use crate::options::words::shown_key;

/// A value of a file with its place. It is shown as the file has it, by `Debug` too: a value of `${env:..}` is
/// not.
///
/// ```
/// use hooks_agent_core::options::{Node, Value, read_options};
///
/// let node = Node { span: 0..2, value: Value::Integer(12) };
/// assert_eq!(read_options::<u8>(&node).unwrap(), 12);
/// let mistakes = read_options::<bool>(&node).unwrap_err();
/// assert_eq!(mistakes[0].message(false), "expected `true` or `false`, found a whole number");
/// ```
#[derive(Clone)]
pub struct Node {
    /// Where it is in its file, in bytes.
    pub span: Range<usize>,
    /// The value.
    pub value: Value,
}

/// The kinds of values.
#[derive(Clone)]
pub enum Value {
    /// A string.
    Text {
        /// The text as it is in the file.
        raw: String,
        /// The text with the values of its `${env:..}`, if it has any.
        resolved: Option<String>,
        /// Whether the text has values of the environment.
        is_secret: bool,
    },
    /// A whole number.
    Integer(i128),
    /// A number with a fraction.
    Float(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// A date, a time, or a number that is too large.
    Other(&'static str),
    /// An array.
    List(Vec<Node>),
    /// A table, in the order of the file.
    Table(Vec<(Key, Node)>),
    /// An element of an array that was [removed](Node::remove).
    Removed,
}

/// A key of a table with its place.
#[derive(Clone, Debug)]
pub struct Key {
    /// The key.
    pub name: String,
    /// Where it is in its file, in bytes.
    pub span: Range<usize>,
}

impl Node {
    /// Returns an empty table at this place.
    #[must_use]
    pub fn empty_table(span: Range<usize>) -> Self {
        Self { span, value: Value::Table(Vec::new()) }
    }

    /// Returns the kind of the value, for errors.
    #[must_use]
    pub fn kind(&self) -> &'static str {
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
    pub fn has_secret(&self) -> bool {
        match &self.value {
            Value::Text { is_secret, .. } => *is_secret,
            Value::List(list) => list.iter().any(Self::has_secret),
            Value::Table(entries) => entries.iter().any(|(_, node)| node.has_secret()),
            _ => false,
        }
    }

    /// Removes the innermost value at this place. Returns the name of the key that is gone, which
    /// is empty for a value of an array.
    pub fn remove(&mut self, offset: usize) -> Option<String> {
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
    #[must_use]
    pub fn is_removed(&self) -> bool {
        matches!(self.value, Value::Removed)
    }

    /// Returns the value at a path such as `patterns[0].pattern`.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<&Self> {
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
    pub fn digest(&self, digest: &mut Sha256) {
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
        self.value.fmt(f)
    }
}

/// The same text.
impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.value, f)
    }
}

/// The same text.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Shows the value as the file has it, on one line: `${env:NAME}` stays what it is.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A string of JSON is one of TOML.
            Self::Text { raw, .. } => write!(f, "{}", serde_json::Value::from(raw.as_str())),
            Value::Integer(number) => write!(f, "{number}"),
            Value::Float(number) => write!(f, "{number}"),
            Value::Boolean(it) => write!(f, "{it}"),
            Self::Other(kind) => f.write_str(kind),
            Self::Removed => f.write_str("nothing"),
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
