//! The layer and the place of an entry of the merged files.

use std::fmt;

use crate::command::Layer;
use crate::policy::error::Place;

/// The layer and the place of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) layer: Layer,
    pub(super) place: Place,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}:{})", self.layer, self.place.file(), self.place.line())
    }
}
