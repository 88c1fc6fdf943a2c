//! The id of a call.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The id of one call of an agent: a UUID, random unless the caller
/// [sets](crate::call::CallOptions::run_id) it.
///
/// Its text is the UUID in lower case with hyphens, which it can be read from again.
///
/// ```
/// use hooks_agent::call::RunId;
///
/// let id: RunId = "6f1c2d3e-0a4b-4c5d-8e6f-708192a3b4c5".parse()?;
/// assert_eq!(id.to_string(), "6f1c2d3e-0a4b-4c5d-8e6f-708192a3b4c5");
/// assert!("run 1".parse::<RunId>().is_err());
/// # Ok::<(), hooks_agent::call::ParseRunIdError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(Uuid);

impl RunId {
    /// Creates a new random id, which is globally unique.
    #[must_use]
    pub fn random() -> Self {
        Self(Uuid::new_v4())
    }

    /// Returns the id of a call that another system has named: always the same for the same name. It is
    /// a UUID of version 8, from the SHA-256 of the name.
    ///
    /// ```
    /// use hooks_agent::call::RunId;
    ///
    /// assert_eq!(RunId::named("inv_1"), RunId::named("inv_1"));
    /// assert_ne!(RunId::named("inv_1"), RunId::named("inv_2"));
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self(Uuid::nil()).derived(name)
    }

    /// Returns the id of something in this run: always the same for the same name. A UUID of version 8,
    /// from the SHA-256 of this id and the name.
    pub(crate) fn derived(self, name: &str) -> Self {
        let digest = Sha256::new().chain_update(self.0.as_bytes()).chain_update(name).finalize();
        let bytes = std::array::from_fn(|index| digest[index]);
        Self(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Reads a UUID of any version, in upper or lower case, with or without hyphens.
impl FromStr for RunId {
    type Err = ParseRunIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Uuid::try_parse(text).map(Self).map_err(|_| ParseRunIdError)
    }
}

/// The error of a text that is not a [`RunId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text is not a run id, expected a UUID")]
#[non_exhaustive]
pub struct ParseRunIdError;
