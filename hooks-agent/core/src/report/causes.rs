//! The texts of the causes of an error, as a chain of sources.

use std::error::Error;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// How many causes are kept: a chain may be endless.
const MOST: usize = 32;

/// The causes of an error, the direct one first. In JSON, a list of their texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub(crate) struct Causes(Option<Box<Cause>>);

/// A cause that was an error of another type, with its own cause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
struct Cause {
    text: String,
    source: Option<Box<Cause>>,
}

impl Causes {
    /// Returns the causes of an error.
    pub(crate) fn of(error: &dyn Error) -> Self {
        Self::starting_at(error.source())
    }

    fn starting_at(first: Option<&dyn Error>) -> Self {
        let causes = std::iter::successors(first, |cause| Error::source(*cause));
        causes.take(MOST).map(ToString::to_string).collect::<Vec<_>>().into()
    }

    /// Returns the direct cause.
    pub(crate) fn first(&self) -> Option<&(dyn Error + 'static)> {
        self.0.as_deref().map(|cause| cause as &(dyn Error + 'static))
    }

    /// Returns the texts, that of the direct cause first.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let causes = std::iter::successors(self.0.as_deref(), |cause| cause.source.as_deref());
        causes.map(|cause| cause.text.as_str())
    }
}

impl From<Vec<String>> for Causes {
    fn from(texts: Vec<String>) -> Self {
        let texts = texts.into_iter().take(MOST).rev();
        Self(texts.fold(None, |source, text| Some(Box::new(Cause { text, source }))))
    }
}

impl From<Causes> for Vec<String> {
    fn from(causes: Causes) -> Self {
        causes.texts().map(str::to_owned).collect()
    }
}

/// The form in JSON of an error of any type: its text and those of its causes, as a list.
pub(crate) mod shared_cause {
    use serde::de::Error as _;
    use serde::{Deserializer, Serializer};

    use super::{Arc, Causes, Deserialize, Error, Serialize};

    pub(crate) fn serialize<S: Serializer>(
        error: &Arc<dyn Error + Send + Sync>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        Causes::starting_at(Some(&**error)).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<dyn Error + Send + Sync>, D::Error> {
        match Causes::deserialize(deserializer)?.0 {
            Some(cause) => Ok(Arc::new(*cause)),
            None => Err(D::Error::custom("expected the text of an error")),
        }
    }
}
