//! The name of a thread in a store.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The name of a thread in a store: the name of the agent and the id of the thread. Both are texts of
/// any content, of 1 to 512 bytes and without NUL.
///
/// ```
/// use hooks_agent::store::ThreadKey;
///
/// let key = ThreadKey::new("clerk", "'; DROP TABLE threads")?;
/// assert_eq!((key.agent(), key.thread()), ("clerk", "'; DROP TABLE threads"));
/// assert!(ThreadKey::new("clerk", "a".repeat(513)).is_err());
/// # Ok::<(), hooks_agent::store::NameError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ThreadKey {
    agent: Arc<str>,
    thread: Arc<str>,
}

/// The error of a name that a store does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// The name is empty.
    #[error("the {what} is empty")]
    Empty {
        /// What is named.
        what: &'static str,
    },
    /// The name is too long.
    #[error("the {what} has {bytes} bytes, at most {} are allowed", ThreadKey::LONGEST)]
    TooLong {
        /// What is named.
        what: &'static str,
        /// The length of the name.
        bytes: usize,
    },
    /// The name has a NUL character.
    #[error("the {what} has a NUL character")]
    Nul {
        /// What is named.
        what: &'static str,
    },
}

impl ThreadKey {
    /// The length of the longest name, in bytes.
    pub const LONGEST: usize = 512;

    /// Creates the name of a thread.
    ///
    /// # Errors
    /// [`NameError`] if one of the names is empty, too long, or has a NUL character.
    pub fn new(agent: impl Into<Arc<str>>, thread: impl Into<Arc<str>>) -> Result<Self, NameError> {
        let (agent, thread) = (agent.into(), thread.into());
        check_name("name of the agent", &agent)?;
        check_name("id of the thread", &thread)?;
        Ok(Self { agent, thread })
    }

    /// Returns the name of the agent.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// Returns the id of the thread.
    #[must_use]
    pub fn thread(&self) -> &str {
        &self.thread
    }
}

impl fmt::Display for ThreadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread `{}` of agent `{}`", self.thread, self.agent)
    }
}

/// Checks a name that a store keeps, besides those of a [`ThreadKey`], such as the id of a user.
///
/// ```
/// use hooks_agent::store::check_name;
///
/// assert!(check_name("id of the user", "ann").is_ok());
/// assert_eq!(check_name("id of the user", "").unwrap_err().to_string(), "the id of the user is empty");
/// ```
///
/// # Errors
/// [`NameError`] if the name is empty, longer than [`ThreadKey::LONGEST`], or has a NUL character.
pub fn check_name(what: &'static str, name: &str) -> Result<(), NameError> {
    match name.len() {
        0 => Err(NameError::Empty { what }),
        bytes if bytes > ThreadKey::LONGEST => Err(NameError::TooLong { what, bytes }),
        _ if name.contains('\0') => Err(NameError::Nul { what }),
        _ => Ok(()),
    }
}
