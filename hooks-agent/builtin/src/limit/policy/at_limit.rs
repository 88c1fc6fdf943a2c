//! The exits of a limit, as policy files write them.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::limit::exit::Exit;

/// What happens at a limit of calls of the model, or of tokens.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum AtLimit {
    End,
    Error,
}

impl From<AtLimit> for Exit {
    fn from(end: AtLimit) -> Self {
        match end {
            AtLimit::End => Self::End,
            AtLimit::Error => Self::Error,
        }
    }
}
