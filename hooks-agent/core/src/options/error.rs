//! A mistake in the options of a hook.

use std::error::Error as StdError;
use std::fmt;

use hooks_core::BoxError;
use serde::de::{self, Expected, Unexpected};

use crate::options::value::Node;
use crate::options::words::list_of;

/// Why a hook cannot be made of its options, and at which of them.
///
/// Every error converts into it, so `?` works.
///
/// ```
/// use hooks_agent::policy::OptionError;
///
/// let error = OptionError::at("rate", "expected a rate above 0, found -1");
/// assert_eq!(error.to_string(), "expected a rate above 0, found -1");
/// ```
#[derive(Debug)]
pub struct OptionError {
    pub(super) key: Option<String>,
    pub(super) cause: BoxError,
    /// What else is wrong.
    pub(super) others: Vec<Self>,
}

impl OptionError {
    /// Creates an error of all that is wrong: options, by their paths such as `patterns[0].pattern`, and why.
    ///
    /// ```
    /// use hooks_agent::policy::OptionError;
    ///
    /// let error = OptionError::many([("rate", "expected a rate above 0"), ("name", "is taken")]);
    /// assert_eq!(error.to_string(), "expected a rate above 0; is taken");
    /// ```
    pub fn many<'a>(mistakes: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut all = mistakes.into_iter().map(|(option, why)| Self::at(option, why));
        let first = all.next().unwrap_or_else(|| "the options are refused".into());
        Self { others: all.collect(), ..first }
    }

    /// Creates an error at an option.
    pub fn at(option: impl Into<String>, cause: impl Into<BoxError>) -> Self {
        Self { key: Some(option.into()), cause: cause.into(), others: Vec::new() }
    }

    /// Returns the same error, of options that stand in this table.
    #[must_use]
    pub fn below(self, table: &str) -> Self {
        let others = self.others.into_iter().map(|it| it.below(table)).collect();
        let key = self.key.map_or_else(|| table.to_owned(), |key| format!("{table}.{key}"));
        Self { key: Some(key), cause: self.cause, others }
    }
}

impl<E: Into<BoxError>> From<E> for OptionError {
    fn from(cause: E) -> Self {
        Self { key: None, cause: cause.into(), others: Vec::new() }
    }
}

/// Shows the cause with its sources.
impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = self.cause.to_string();
        f.write_str(&shown)?;
        let mut source = self.cause.source();
        while let Some(error) = source {
            let text = error.to_string();
            // Some errors repeat their source.
            if !shown.contains(&text) {
                write!(f, ": {text}")?;
            }
            (shown, source) = (text, error.source());
        }
        self.others.iter().try_for_each(|other| write!(f, "; {other}"))
    }
}

/// A mistake in a table of options, with its place. `Display` and `Debug` show it without values of the
/// options: those of `${env:..}` are among them.
pub struct Mistake {
    /// Where the value or key begins in its file, in bytes.
    pub offset: Option<usize>,
    /// The keys below `with`, innermost first.
    pub(super) path: Vec<String>,
    message: String,
    /// What to show if the options have values of the environment; `None` withholds the message.
    discreet: Option<String>,
    pub(super) missing: Option<&'static str>,
}

impl Mistake {
    /// Creates a mistake whose message has no value of the options.
    pub(super) fn plain(message: impl Into<String>) -> Self {
        let mistake = Self::revealing(message);
        Self { discreet: Some(mistake.message.clone()), ..mistake }
    }

    /// Creates a mistake whose message may have values of the options.
    pub(super) fn revealing(message: impl Into<String>) -> Self {
        let (offset, path, missing) = (None, Vec::new(), None);
        Self { offset, path, message: one_line(&message.into()), discreet: None, missing }
    }

    /// Sets the place, if it has none.
    pub(super) fn or_at(mut self, offset: usize) -> Self {
        self.offset.get_or_insert(offset);
        self
    }

    /// Adds a key in front of the path.
    pub(super) fn below(mut self, key: impl Into<String>) -> Self {
        self.path.push(key.into());
        self
    }

    /// Returns the message; without values, if the options have some of the environment.
    #[must_use]
    pub fn message(&self, has_secret: bool) -> &str {
        const WITHHELD: &str = "the options are refused; the reason is not shown, because they \
                                have values of the environment";
        if has_secret { self.discreet.as_deref().unwrap_or(WITHHELD) } else { &self.message }
    }

    /// Returns the path of the key below a path, such as `hook[0].with.kinds[1]`.
    #[must_use]
    pub fn path(&self, with: &str) -> String {
        let mut path = with.to_owned();
        for key in self.path.iter().rev() {
            if !key.starts_with('[') {
                path.push('.');
            }
            path.push_str(key);
        }
        path
    }

    /// Creates the mistake of a value of another type.
    pub(super) fn of_type(expected: &dyn Expected, node: &Node) -> Self {
        Self::plain(format!("expected {}, found {}", words_for(expected), node.kind()))
    }
}

/// Returns a message on one line, cut off where nobody reads on.
fn one_line(message: &str) -> String {
    const LONGEST: usize = 600;
    let words: Vec<_> = message.split_whitespace().collect();
    let mut line = words.join(" ");
    if let Some((end, _)) = line.char_indices().nth(LONGEST) {
        line.truncate(end);
        line.push_str(" ..");
    }
    line
}

/// Returns what was expected in the words of an operator.
fn words_for(expected: &dyn Expected) -> String {
    let text = expected.to_string();
    match text.as_str() {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "`true` or `false`".to_owned(),
        "a sequence" => "an array".to_owned(),
        "a map" => "a table".to_owned(),
        _ if text.starts_with("struct ") => "a table".to_owned(),
        _ if text.starts_with("enum ") => "a string".to_owned(),
        _ => text,
    }
}

/// Returns a value, or its kind.
fn show(found: Unexpected<'_>) -> (String, &'static str) {
    match found {
        Unexpected::Str(text) if text.len() <= 64 => (format!("{text:?}"), "a string"),
        Unexpected::Str(_) => ("a string".to_owned(), "a string"),
        Unexpected::Bool(it) => (it.to_string(), "a boolean"),
        Unexpected::Signed(it) => (it.to_string(), "a whole number"),
        Unexpected::Unsigned(it) => (it.to_string(), "a whole number"),
        Unexpected::Float(it) => (it.to_string(), "a number with a fraction"),
        Unexpected::Seq => ("an array".to_owned(), "an array"),
        Unexpected::Map => ("a table".to_owned(), "a table"),
        _ => ("another value".to_owned(), "another value"),
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message(true))
    }
}

impl fmt::Debug for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mistake")
            .field("offset", &self.offset)
            .field("message", &self.message(true))
            .finish_non_exhaustive()
    }
}

impl StdError for Mistake {}

impl de::Error for Mistake {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::revealing(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::plain(format!("expected {}, found {}", words_for(expected), show(found).1))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let (value, kind) = show(found);
        let expected = words_for(expected);
        let discreet = format!("expected {expected}, found {kind} that is none");
        Self {
            discreet: Some(discreet),
            ..Self::revealing(format!("expected {expected}, found {value}"))
        }
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::plain(format!("expected {}, found {length} values", words_for(expected)))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let names = || expected.iter().copied();
        Self {
            discreet: Some(list_of("value", None, names())),
            ..Self::revealing(list_of("value", Some(variant), names()))
        }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::plain(list_of("key", Some(field), expected.iter().copied()))
    }

    fn missing_field(field: &'static str) -> Self {
        Self { missing: Some(field), ..Self::plain(format!("missing key `{field}`")) }
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::plain(format!("key `{field}` is there twice"))
    }
}
