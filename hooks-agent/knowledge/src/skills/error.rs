//! Errors of skills.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// What is wrong with a skill, or with a folder of skills.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// A folder of skills cannot be used.
    #[error("the folder of skills {} cannot be read: {expected}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What was expected.
        expected: &'static str,
        /// The error of the file system, if there was one.
        source: Option<io::Error>,
    },
    /// A file cannot be read.
    #[error("{} cannot be read: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// A link leads out of the folder of skills.
    #[error("{} leads out of its folder: copy the skill into the folder", file.display())]
    Outside {
        /// The file.
        file: PathBuf,
    },
    /// The file is not what the format asks for.
    #[error("{}:{line}: {found}, expected {expected}", file.display())]
    Invalid {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is there.
        found: String,
        /// What the format asks for.
        expected: String,
    },
    /// The file is too long.
    #[error("{} is too long, expected at most {limit} bytes", file.display())]
    TooLong {
        /// The file.
        file: PathBuf,
        /// The limit, in bytes.
        limit: usize,
    },
    /// Two skills have one name.
    #[error("two skills are named `{name}`: {} and {}", first.display(), second.display())]
    Duplicate {
        /// The name.
        name: String,
        /// The file of the skill that has the name.
        first: PathBuf,
        /// The file of the other one.
        second: PathBuf,
    },
}

/// Why skills were not opened: everything that is wrong with them.
#[derive(Clone, Debug)]
pub struct SkillsError {
    errors: Vec<Arc<SkillError>>,
}

impl SkillsError {
    pub(super) fn new(errors: Vec<Arc<SkillError>>) -> Self {
        Self { errors }
    }

    /// Returns what is wrong, in the order of the folders and of the names in them.
    #[must_use]
    pub fn errors(&self) -> &[Arc<SkillError>] {
        &self.errors
    }
}

impl fmt::Display for SkillsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SkillsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.errors.first().and_then(|error| error.source())
    }
}
