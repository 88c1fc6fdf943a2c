//! Errors of policy files, and their places.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use hooks_agent_core::react::HookSet;

/// Where something stands in a policy file. Shown as `FILE:LINE:COLUMN`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    file: Arc<str>,
    line: usize,
    column: usize,
}

impl Place {
    pub(super) fn new(file: Arc<str>, line: usize, column: usize) -> Self {
        Self { file, line, column }
    }

    /// Returns the file, as the program named it.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the line, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns hooks of which plans say that this place registered them.
    pub(super) fn of_set(&self, set: &HookSet) -> HookSet {
        set.registered_in(&self.file, u32::try_from(self.line).unwrap_or(u32::MAX))
    }

    /// Returns the column in characters, from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.column
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// One thing that is wrong with a policy. Shown as `FILE:LINE:COLUMN: KEY: MESSAGE`.
///
/// No text of it has a value of `${env:..}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    place: Option<Place>,
    key: String,
    message: String,
}

impl PolicyError {
    pub(super) fn at(place: Place, key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: Some(place), key: key.into(), message: message.into() }
    }

    /// Creates an error of the program that opens the policy, or of a file that cannot be read.
    pub(super) fn without_place(message: impl Into<String>) -> Self {
        Self { place: None, key: String::new(), message: message.into() }
    }

    /// Returns where it is. `None` if a file cannot be read, and for mistakes of the program.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// Returns the key that is wrong, such as `hook[0].with.kinds[1]`. Empty if it is the whole
    /// file.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns what is wrong, what was expected, and a near name if there is one.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

impl Error for PolicyError {}

/// Everything that is wrong with the files of a policy, in the order of the layers and lines; at
/// most [100](Self::MOST) entries. Shown one per line.
#[derive(Clone, PartialEq, Eq)]
pub struct PolicyErrors(Arc<[PolicyError]>);

impl PolicyErrors {
    /// How many errors are kept.
    pub const MOST: usize = 100;

    pub(super) fn new(mut errors: Vec<PolicyError>) -> Self {
        if errors.len() > Self::MOST {
            let more = errors.len() - Self::MOST + 1;
            errors.truncate(Self::MOST - 1);
            errors.push(PolicyError::without_place(format!("{more} more errors")));
        }
        Self(errors.into())
    }

    /// Returns the errors: at least one.
    #[must_use]
    pub fn list(&self) -> &[PolicyError] {
        &self.0
    }
}

impl fmt::Display for PolicyErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl Error for PolicyErrors {}

/// The same text, so that a `main` that returns the error prints it.
impl fmt::Debug for PolicyErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
